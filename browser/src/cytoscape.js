export { default as cytoscape } from "cytoscape";
