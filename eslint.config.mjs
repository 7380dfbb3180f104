// The scripts are classic ones: a page loads them one after the other, and each may use what
// another one defines at top level.
import { readdirSync, readFileSync } from "node:fs";
import js from "@eslint/js";
import globals from "globals";

function topLevelNames(text) {
  const declarations = text.match(/^(?:async )?(?:function|class|const|let) .*/gm) ?? [];
  return declarations.flatMap((line) =>
    [...line.matchAll(/(?:^(?:async )?\w+ |, )(\w+)(?= [={]|\()/g)].map((found) => found[1]));
}

const scripts = readdirSync("src", { recursive: true }).filter((name) => name.endsWith(".js"));
const shared = scripts.flatMap((name) => topLevelNames(readFileSync(`src/${name}`, "utf8")));

export default [
  js.configs.recommended,
  {
    files: ["src/**/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: {
        ...globals.browser,
        ...Object.fromEntries(shared.map((name) => [name, "writable"])),
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-redeclare": ["error", { builtinGlobals: false }],
      "no-unused-vars": ["error", { vars: "local" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      strict: ["error", "global"],
    },
  },
];
