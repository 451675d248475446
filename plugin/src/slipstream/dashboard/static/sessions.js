import { empty } from "./dom.js";
export const title = "Sessions";
export function mount(root) { root.append(empty("Sessions", "In work.")); }
