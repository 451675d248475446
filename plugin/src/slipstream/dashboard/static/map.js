import { empty } from "./dom.js";
export const title = "Map";
export function mount(root) { root.append(empty("Map", "In work.")); }
