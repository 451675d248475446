import { empty } from "./dom.js";
export const title = "Health";
export function mount(root) { root.append(empty("Health", "In work.")); }
