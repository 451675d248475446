// Zoom, pan and selection for the mind map page.
const svg=document.querySelector('svg'),stage=document.getElementById('stage'),box=svg.viewBox.baseVal;
const home=[box.x,box.y,box.width,box.height];
const scale=Math.min(1,Math.max(.8,Math.min(stage.clientWidth/home[2],stage.clientHeight/home[3])));
box.width=stage.clientWidth/scale;box.height=stage.clientHeight/scale;
const first=document.querySelector('.node rect');box.y=home[3]<box.height?(home[3]-box.height)/2:
Math.max(0,Math.min(home[3]-box.height,+first.getAttribute('y')-box.height/2));
function zoom(factor,x,y){const w=Math.min(home[2]*4,Math.max(120,box.width*factor)),k=w/box.width;
box.x=x-(x-box.x)*k;box.y=y-(y-box.y)*k;box.width=w;box.height*=k}
function point(event){const m=svg.getScreenCTM().inverse();return new DOMPoint(event.clientX,event.clientY).matrixTransform(m)}
function middle(){return [box.x+box.width/2,box.y+box.height/2]}
stage.addEventListener('wheel',e=>{e.preventDefault();const p=point(e);zoom(e.deltaY>0?1.15:1/1.15,p.x,p.y)},{passive:false});
let drag=null;
stage.addEventListener('pointerdown',e=>{if(e.target.closest('button'))return;drag=point(e)});
addEventListener('pointermove',e=>{if(!drag)return;const p=point(e);box.x-=p.x-drag.x;box.y-=p.y-drag.y});
addEventListener('pointerup',()=>{drag=null});
const acts={in:()=>zoom(1/1.3,...middle()),out:()=>zoom(1.3,...middle()),
home:()=>{[box.x,box.y,box.width,box.height]=home}};
for(const b of document.querySelectorAll('button'))b.addEventListener('click',()=>acts[b.dataset.act]());
const title=document.getElementById('what'),detail=document.getElementById('detail');
function select(node){for(const n of document.querySelectorAll('.node.on'))n.classList.remove('on');node.classList.add('on');
title.textContent=node.dataset.path||node.dataset.label;detail.textContent=node.dataset.detail}
for(const n of document.querySelectorAll('.node')){n.addEventListener('click',()=>select(n));
n.addEventListener('keydown',e=>{if(e.key==='Enter'||e.key===' '){e.preventDefault();select(n)}})}
addEventListener('keydown',e=>{if(e.key==='+'||e.key==='=')acts.in();else if(e.key==='-')acts.out();else if(e.key==='0')acts.home();
else{const d={ArrowLeft:[-1,0],ArrowRight:[1,0],ArrowUp:[0,-1],ArrowDown:[0,1]}[e.key];
if(d&&!e.target.closest('aside')){e.preventDefault();box.x+=d[0]*box.width/12;box.y+=d[1]*box.height/12}}});
