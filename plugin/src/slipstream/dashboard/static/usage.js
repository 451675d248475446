import { empty } from "./dom.js";
export const title = "Usage";
export function mount(root) { root.append(empty("Usage", "In work.")); }
