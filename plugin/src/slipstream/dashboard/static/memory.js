import { empty } from "./dom.js";
export const title = "Memory";
export function mount(root) { root.append(empty("Memory", "In work.")); }
