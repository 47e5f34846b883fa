export * from "lit-html"; // the types of the npm package, which package.json names
