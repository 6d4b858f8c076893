import js from "@eslint/js";
import tseslint from "typescript-eslint";
import { STORED_FORMS } from "./scripts/stored-forms.mjs";

const ENV_MESSAGE = "Read the environment in lib/config/env.ts alone.";
const CAN_PARSE = {
  object: "URL",
  property: "canParse",
  message:
    "In Node 20 and 22 it refuses hosts beyond ASCII after some thousand calls. Use parseUrl of lib/core/parse-url.ts.",
};
/** Its version 1.0.2 derives master keys with about 53 bits of entropy; only its circuit files are of use. */
const ARTIFACTS_MESSAGE =
  "pp-artifacts holds circuit files; its code derives weak keys. Import @0xbow/privacy-pools-core-sdk.";

const SYNTAX = [
  { selector: "ImportExpression[source.value=/^pp-artifacts/]", message: ARTIFACTS_MESSAGE },
  {
    selector: "CallExpression[callee.name='require'][arguments.0.value=/^pp-artifacts/]",
    message: ARTIFACTS_MESSAGE,
  },
  { selector: "TSEnumDeclaration", message: "Use an `as const` list." },
  {
    selector: "ExportDefaultDeclaration",
    message: "Named exports; default exports only where Next or a tool wants them.",
  },
];

const FORM = {
  selector: "JSXOpeningElement[name.name='form']",
  message: "Use <Form> of components/ui/form.tsx with useForm and zodResolver.",
};

const SQL_MESSAGE = "Move the statement to a file whose name ends in repository.ts, and return domain types.";
const SQL = [
  { selector: "MemberExpression[property.name=/^\\$(query|execute)Raw(Unsafe)?$/]", message: SQL_MESSAGE },
  { selector: "CallExpression[callee.property.name=/^(query|change)$/]", message: SQL_MESSAGE },
  { selector: "CallExpression[callee.name='query']", message: SQL_MESSAGE },
];
const STORED_MESSAGE =
  "Parse rows and JSON columns in a repository, or in a file of scripts/stored-forms.mjs that a repository calls.";
const STORED = [
  {
    selector:
      "CallExpression[callee.property.name=/^(safeP|p)arse(Async)?$/] MemberExpression.callee Identifier[name=/^stored[A-Z]/]",
    message: STORED_MESSAGE,
  },
];
const STORED_FORM_FILES = STORED_FORMS.map((file) => `lib/modules/${file}.ts`);
/**
 * The ledger has its own connections and database role (ledger/repository.ts hands them out), and its statements stand beside the
 * decision that they carry out: what a commit locks, reads and writes is reviewed together.
 */
const LEDGER_SQL = [
  "accounts",
  "account-reads",
  "entry-reads",
  "funding-reads",
  "reads",
  "read-snapshot",
  "verify",
  "write-effects",
].map((name) => `lib/modules/ledger/${name}.ts`);

export default tseslint.config(
  {
    ignores: [
      ".next/**",
      ".data/**",
      "dist/**",
      "node_modules/**",
      "lib/db/generated/**",
      "next-env.d.ts",
      "vendor/**",
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    // Rules that need types are those of oxlint; see .oxlintrc.json.
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "no-restricted-properties": ["error", { object: "process", property: "env", message: ENV_MESSAGE }, CAN_PARSE],
      "no-restricted-imports": ["error", { patterns: [{ regex: "^pp-artifacts(/|$)", message: ARTIFACTS_MESSAGE }] }],
      "no-restricted-syntax": ["error", ...SYNTAX],
    },
  },
  {
    // A longer function or file holds a second idea: give it a name and a place of its own.
    files: ["**/*.ts", "**/*.tsx", "**/*.mts", "**/*.mjs"],
    rules: {
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      "max-lines": ["error", { max: 350 }],
    },
  },
  {
    files: ["lib/modules/**/*.ts"],
    ignores: ["**/*repository.ts", "**/*.test.ts", ...LEDGER_SQL],
    rules: { "no-restricted-syntax": ["error", ...SYNTAX, ...SQL, ...STORED] },
  },
  {
    files: [
      ...LEDGER_SQL,
      "app/api/**/*.ts",
      "lib/{adapters,chains,composition,http,workers}/**/*.ts",
      "lib/composition.ts",
    ],
    ignores: ["**/*repository.ts", "**/*.test.ts"],
    rules: { "no-restricted-syntax": ["error", ...SYNTAX, ...STORED] },
  },
  {
    files: STORED_FORM_FILES,
    rules: { "no-restricted-syntax": ["error", ...SYNTAX, ...SQL] },
  },
  {
    files: ["components/**/*.tsx"],
    ignores: ["components/ui/form.tsx"],
    rules: { "no-restricted-syntax": ["error", ...SYNTAX, FORM] },
  },
  {
    files: ["app/**/*.tsx"],
    rules: { "no-restricted-syntax": ["error", FORM] },
  },
  {
    files: [".dependency-cruiser.mjs", "*.config.ts", "*.config.mjs", "e2e/**/*.ts"],
    rules: { "no-restricted-syntax": "off" },
  },
  {
    files: [
      "lib/config/env.ts",
      "lib/stack/chains-process.ts",
      "scripts/**",
      "e2e/**",
      "*.config.ts",
      "*.config.mjs",
      "prisma.config.ts",
    ],
    rules: { "no-restricted-properties": ["error", CAN_PARSE] },
  },
  {
    files: ["**/*.mjs", "**/*.js", "**/*.cjs"],
    languageOptions: {
      globals: Object.fromEntries(
        [
          "process",
          "console",
          "URL",
          "fetch",
          "setTimeout",
          "setInterval",
          "clearInterval",
          "clearTimeout",
          "performance",
          "AbortSignal",
          "WebAssembly",
          "crypto",
          "Buffer",
        ].map((name) => [name, "readonly"]),
      ),
    },
  },
);
