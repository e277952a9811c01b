export { Idiomorph } from "idiomorph/dist/idiomorph.esm.js";
