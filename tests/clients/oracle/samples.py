"""Hand-written samples: what every definition is, on which lines, counted by hand."""

from __future__ import annotations

# language -> (source, [(name, kind, line, end, level, exported)] that are required, names that must not be required)
SAMPLES = {
    "python": ('''import os
LIMIT = 3
limit = 4

@wraps(f)
@other
def deco(a,
         b):
    def inner():
        pass
    return inner

class A(Base):
    x = 1

    @property
    def val(self):
        """doc
        def fake(): pass
        """
        return 1
    # trailing comment
    async def go(self): pass

if os.name:
    def cond():
        return 2
TEXT = """
def not_here():
    pass
"""
''', [('LIMIT', 'const', 2, 2, 'top', True), ('deco', 'function', 7, 11, 'top', True), ('A', 'class', 13, 23, 'top', True),
      ('val', 'method', 17, 21, 'member', True), ('go', 'method', 23, 23, 'member', True), ('cond', 'function', 26, 27, 'top', True), ('TEXT', 'const', 28, 31, 'top', True)],
    {'inner', 'fake', 'not_here', 'limit', 'x'}),
    "typescript": ('''export interface P { a: string }
export type U = { x: number } |
  string
export const enum E { A, B }
export abstract class C<T> extends D {
  private f = (a: number) => {
    return a
  }
  constructor(readonly x: T) { super() }
  get v() { return 1 }
  abstract m(): void
}
export function over(a: string): void
export function over(a: number): void
export function over(a: any) {
  function local() {}
}
const hidden = 5
export const obj = {
  k() {},
}
const late = () => 1
export { late }
export default class extends C<number> {
  run() {}
}
declare module 'x' {
  interface Ext { y: 1 }
}
const s = `export function nope() {}`
''', [('P', 'interface', 1, 1, 'top', True), ('U', 'type', 2, 3, 'top', True), ('E', 'enum', 4, 4, 'top', True), ('C', 'class', 5, 12, 'top', True),
      ('f', 'method', 6, 8, 'member', False), ('constructor', 'method', 9, 9, 'member', True), ('v', 'method', 10, 10, 'member', True),
      ('m', 'method', 11, 11, 'member', True), ('over', 'function', 15, 17, 'top', True), ('obj', 'const', 19, 21, 'top', True),
      ('late', 'function', 22, 22, 'top', True), ('default', 'default', 24, 26, 'top', True), ('run', 'method', 25, 25, 'member', True), ('Ext', 'interface', 28, 28, 'top', True)],
    {'hidden', 'local', 'nope', 'k'}),
    "tsx": ('''export const Button = forwardRef(
  (p, ref) => <b ref={ref}>{p.a < 3 ? "}" : '{'}</b>,
)
export default function App() {
  return (
    <Button a={1} />
  )
}
function Side() { return null }
''', [('Button', 'const', 1, 3, 'top', True), ('App', 'function', 4, 8, 'top', True), ('Side', 'function', 9, 9, 'top', False)], set()),
    "javascript": ('''var app = exports = module.exports = {};
app.use = function use(fn) {
  return this;
};
exports.make = make;
exports.go = () => {
  return /[{]/.test(x)
};
function make() {}
Foo.prototype.bar = function () {
};
class K { static a() {} #p() {} }
module.exports.Z = class {
  q() {}
};
(function () { function iife() {} })();
''', [('use', 'method', 2, 4, 'member', True), ('go', 'function', 6, 8, 'top', True), ('make', 'function', 9, 9, 'top', True),
      ('bar', 'method', 10, 11, 'member', True), ('K', 'class', 12, 12, 'top', False), ('a', 'method', 12, 12, 'member', True),
      ('#p', 'method', 12, 12, 'member', False), ('Z', 'class', 13, 15, 'top', True), ('q', 'method', 14, 14, 'member', True)], {'iife'}),
    "go": ('''package p

type (
	T struct {
		a int
	}
	I interface{ M() }
)
type Alias = T

const Max, min = 1, 2

var ErrX = errors.New("}")

func Free[T any](a T) (
	b int) {
	f := func() {}
	return 0
}

func (t *T) Do() { s := `
func no() {
`
}
''', [('T', 'class', 4, 6, 'top', True), ('I', 'interface', 7, 7, 'top', True), ('Alias', 'type', 9, 9, 'top', True), ('Max', 'const', 11, 11, 'top', True),
      ('ErrX', 'const', 13, 13, 'top', True), ('Free', 'function', 15, 19, 'top', True), ('Do', 'method', 21, 24, 'member', True)], {'min', 'no', 'M', 'a'}),
    "rust": ('''#[derive(Debug)]
pub struct S {
    x: u8,
}
pub(crate) enum E { A }
pub trait Tr { fn sig(&self); fn dflt(&self) { } }
impl<T> Tr for S {
    fn sig(&self) {
        let c = '{';
        let s = r#"fn no() { "#;
    }
}
impl S { pub fn new() -> Self { S { x: 1 } } }
pub const N: u8 = 1;
mod inner {
    pub fn deep() {}
}
macro_rules! m { () => {}; }
#[cfg(test)]
mod tests {
    #[test]
    fn t1() {}
}
''', [('S', 'class', 2, 4, 'top', True), ('E', 'enum', 5, 5, 'top', False), ('Tr', 'interface', 6, 6, 'top', True), ('sig', 'method', 6, 6, 'member', True),
      ('dflt', 'method', 6, 6, 'member', True), ('sig', 'method', 8, 11, 'member', True), ('new', 'method', 13, 13, 'member', True), ('N', 'const', 14, 14, 'top', True),
      ('deep', 'function', 16, 16, 'top', True)], {'t1', 'm', 'inner', 'no'}),
    "java": ('''package a;
@Anno(
  "x")
public final class A<T> extends B {
  static final String S = "class No {";
  @Override
  public String toString() {
    return new Object() { public int hashCode() { return 1; } }.toString();
  }
  A() {}
  enum Mode { ON { void x() {} }, OFF; int z() { return 1; } }
  interface I { void call(); }
  record R(int a) { R { } }
}
@interface Ann { int v(); }
''', [('A', 'class', 4, 14, 'top', True), ('toString', 'method', 7, 9, 'member', True), ('A', 'method', 10, 10, 'member', False), ('Mode', 'enum', 11, 11, 'member', False),
      ('z', 'method', 11, 11, 'member', False), ('I', 'interface', 12, 12, 'member', False), ('call', 'method', 12, 12, 'member', True), ('R', 'class', 13, 13, 'member', False),
      ('R', 'method', 13, 13, 'member', False), ('Ann', 'interface', 15, 15, 'top', False)], {'hashCode', 'x', 'No', 'S'}),
    "c": ('''#include <x.h>
#define M(a) do { a; } while (0)
typedef struct node {
  int v;
} node_t;
enum color { RED, GREEN };
static int
helper(int a,
       int b)
{
  char c = '}';
  return a;
}
int proto(void);
char *(*get(int x))(void) { return 0; }
#if 0
void dead(void) { }
#endif
#ifdef A
int both(int a) {
#else
int both(long a) {
#endif
  return 1;
}
struct fwd;
''', [('node', 'class', 3, 5, 'top', False), ('node_t', 'type', 5, 5, 'top', False), ('color', 'enum', 6, 6, 'top', False), ('helper', 'function', 8, 13, 'top', False),
      ('get', 'function', 15, 15, 'top', True)], {'M', 'proto', 'dead', 'fwd', 'RED', 'v'}),
    "cpp": ('''namespace a::b {
template <typename T>
class Box final : public Base<T> {
 public:
  explicit Box(T v) : v_(v) {}
  ~Box();
  auto get() const -> T { return v_; }
  bool operator==(const Box& o) const { return true; }
  void decl();
 private:
  T v_;
};
template <> struct Hash<int> { int x; };
using Alias = Box<int>;
enum class Mode { A };
}
template <typename T>
void Box<T>::decl() {
  auto l = [] { return R"(})"; };
}
extern "C" { int cfun() { return 1; } }
namespace { int anon() { return 2; } }
''', [('Box', 'class', 3, 12, 'top', True), ('Box', 'method', 5, 5, 'member', True), ('get', 'method', 7, 7, 'member', True), ('operator==', 'method', 8, 8, 'member', True),
      ('Hash', 'class', 13, 13, 'top', True), ('Alias', 'type', 14, 14, 'top', True), ('Mode', 'enum', 15, 15, 'top', True), ('decl', 'method', 18, 20, 'member', True),
      ('cfun', 'function', 21, 21, 'top', True), ('anon', 'function', 22, 22, 'top', False)], {'~Box', 'v_', 'x'}),
    "csharp": ('''using System;
namespace N
{
    [Serializable]
    public abstract partial class A<T> : B where T : new()
    {
        public const string S = @"class No {";
        public int P { get; set; }
        public A(int x) : base(x) { void Local() { } }
        [Obsolete]
        protected override
            void Run() => Go();
        public static A<T> operator +(A<T> a, A<T> b) { return a; }
    }
    internal struct St { }
    public record Rec(int X);
    public enum E { A, B }
    public interface I { void M(); }
    public delegate void D(int a);
}
''', [('A', 'class', 5, 14, 'top', True), ('A', 'method', 9, 9, 'member', True), ('Run', 'method', 12, 12, 'member', True), ('St', 'class', 15, 15, 'top', False),
      ('Rec', 'class', 16, 16, 'top', True), ('E', 'enum', 17, 17, 'top', True), ('I', 'interface', 18, 18, 'top', True), ('M', 'method', 18, 18, 'member', True),
      ('D', 'type', 19, 19, 'top', True)], {'Local', 'P', 'S', 'No'}),
    "ruby": ('''module M
  class A::B < C
    X = 1
    def self.make(a = {})
      "end"
    end
    class << self
      def cls; end
    end
    def name=(v)
      if v then 1 end
      <<~EOS
        def no
        end
      EOS
    end
    def ok? = true
    private def priv
    end
    included do
      def dsl
      end
    end
  end
end
def top; end
''', [('M', 'class', 1, 25, 'top', True), ('A::B', 'class', 2, 24, 'member', True), ('make', 'method', 4, 6, 'member', True), ('cls', 'method', 8, 8, 'member', True),
      ('name=', 'method', 10, 16, 'member', True), ('ok?', 'method', 17, 17, 'member', True), ('priv', 'method', 18, 19, 'member', True), ('top', 'function', 26, 26, 'top', True)],
    {'no', 'dsl', 'X'}),
    "php": ('''<?php
namespace A\\B;
use X\\Y as Z;
#[Attr]
final class C extends D implements E
{
    const K = 'function no() {';
    private ?int $p = null;
    public static function make(
        int $a
    ): static {
        return new class { public function anon() {} };
    }
    abstract protected function abs();
}
interface I { public function m(); }
trait T { }
enum Suit: string { case H = 'h'; public function label() { return 1; } }
if (! function_exists('help')) {
    function help() {
        $f = function () { return 1; };
    }
}
const TOP = 1;
''', [('C', 'class', 5, 15, 'top', True), ('make', 'method', 9, 13, 'member', True), ('abs', 'method', 14, 14, 'member', False), ('I', 'interface', 16, 16, 'top', True),
      ('m', 'method', 16, 16, 'member', True), ('T', 'class', 17, 17, 'top', True), ('Suit', 'enum', 18, 18, 'top', True), ('label', 'method', 18, 18, 'member', True),
      ('help', 'function', 20, 22, 'top', True), ('TOP', 'const', 24, 24, 'top', True)], {'anon', 'K', 'p', 'no', 'Z'}),
    "kotlin": ('''package a
const val K = 1
val plain = 2
data class D(val a: Int) {
    fun m(): Int = 1
    companion object {
        fun make() = D(1)
    }
}
class Builder
  @JvmOverloads
  constructor(
    private val x: Int = 1,
  ) {
    fun add() {
    }
  }
interface I { fun call() }
val filler = 0
enum class E { A, B; fun z() = 1 }
object O
fun <T> String.ext(a: T): Unit {
    fun local() {}
    val s = "fun no() {"
}
typealias TA = String
@Composable
private fun Screen() { }
fun `with space`() {}
fun interface F {
    fun go()
}
''', [('K', 'const', 2, 2, 'top', True), ('D', 'class', 4, 9, 'top', True), ('m', 'method', 5, 5, 'member', True), ('make', 'method', 7, 7, 'member', True),
      ('Builder', 'class', 10, 17, 'top', True), ('add', 'method', 15, 16, 'member', True), ('I', 'interface', 18, 18, 'top', True), ('call', 'method', 18, 18, 'member', True),
      ('F', 'interface', 30, 32, 'top', True), ('go', 'method', 31, 31, 'member', True), ('E', 'enum', 20, 20, 'top', True), ('z', 'method', 20, 20, 'member', True), ('O', 'class', 21, 21, 'top', True),
      ('ext', 'function', 22, 25, 'top', True), ('TA', 'type', 26, 26, 'top', True), ('Screen', 'function', 28, 28, 'top', False), ('`with space`', 'function', 29, 29, 'top', True)],
    {'plain', 'local', 'no'}),
    "swift": ('''import Foundation
@available(iOS 13, *)
public final class A: B {
    let x = 1
    public init(a: Int) { super.init() }
    func go() async throws -> Int {
        let s = "func no() {"
        func local() {}
        return 1
    }
    enum Mode { case on, off }
    static func == (l: A, r: A) -> Bool { true }
}
struct S<T> { var y: T { return z } }
protocol P { func req() }
extension A: P {
    private func req() {}
}
func free() {}
typealias TA = Int
actor Act { }
''', [('A', 'class', 3, 13, 'top', True), ('init', 'method', 5, 5, 'member', True), ('go', 'method', 6, 10, 'member', True), ('Mode', 'enum', 11, 11, 'member', True),
      ('S', 'class', 14, 14, 'top', True), ('P', 'interface', 15, 15, 'top', True), ('req', 'method', 17, 17, 'member', False), ('free', 'function', 19, 19, 'top', True),
      ('TA', 'type', 20, 20, 'top', True), ('Act', 'class', 21, 21, 'top', True)], {'local', 'no', 'x', 'y'}),
}
