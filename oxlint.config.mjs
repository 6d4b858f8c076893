// Rules of `npm run check:lint`: those that look at one file, those that need types, and this
// project's own (scripts/lint-rules.mjs).
import { ARTIFACTS_MESSAGE } from "./scripts/lint-rules.mjs";
import { ROOMS } from "./scripts/rooms.mjs";
import { STORED_FORMS } from "./scripts/stored-forms.mjs";

const errors = (names) => Object.fromEntries(names.map((name) => [name, "error"]));
const off = (names) => Object.fromEntries(names.map((name) => [name, "off"]));

/** ESLint's recommended rules and the strict ones of typescript-eslint that look at one file. */
const GENERAL = [
  "for-direction",
  "no-array-constructor",
  "no-async-promise-executor",
  "no-case-declarations",
  "no-compare-neg-zero",
  "no-cond-assign",
  "no-constant-binary-expression",
  "no-constant-condition",
  "no-control-regex",
  "no-debugger",
  "no-delete-var",
  "no-dupe-else-if",
  "no-duplicate-case",
  "no-empty",
  "no-empty-character-class",
  "no-empty-pattern",
  "no-empty-static-block",
  "no-ex-assign",
  "no-extra-boolean-cast",
  "no-fallthrough",
  "no-global-assign",
  "no-invalid-regexp",
  "no-irregular-whitespace",
  "no-loss-of-precision",
  "no-misleading-character-class",
  "no-nonoctal-decimal-escape",
  "no-prototype-builtins",
  "no-regex-spaces",
  "no-self-assign",
  "no-shadow-restricted-names",
  "no-sparse-arrays",
  "no-unexpected-multiline",
  "no-unsafe-finally",
  "no-unsafe-optional-chaining",
  "no-unused-expressions",
  "no-unused-labels",
  "no-unused-private-class-members",
  "no-unused-vars",
  "no-useless-backreference",
  "no-useless-catch",
  "no-useless-constructor",
  "no-useless-escape",
  "no-var",
  "prefer-const",
  "prefer-rest-params",
  "prefer-spread",
  "require-yield",
  "use-isnan",
  "valid-typeof",
  "typescript/ban-ts-comment",
  "typescript/consistent-type-imports",
  "typescript/no-duplicate-enum-values",
  "typescript/no-dynamic-delete",
  "typescript/no-empty-object-type",
  "typescript/no-explicit-any",
  "typescript/no-extra-non-null-assertion",
  "typescript/no-extraneous-class",
  "typescript/no-invalid-void-type",
  "typescript/no-misused-new",
  "typescript/no-namespace",
  "typescript/no-non-null-asserted-nullish-coalescing",
  "typescript/no-non-null-asserted-optional-chain",
  "typescript/no-non-null-assertion",
  "typescript/no-require-imports",
  "typescript/no-this-alias",
  "typescript/no-unnecessary-type-constraint",
  "typescript/no-unsafe-declaration-merging",
  "typescript/no-unsafe-function-type",
  "typescript/no-wrapper-object-types",
  "typescript/prefer-as-const",
  "typescript/prefer-literal-enum-member",
  "typescript/prefer-namespace-keyword",
  "typescript/triple-slash-reference",
  "typescript/unified-signatures",
];

/** Errors that the TypeScript compiler finds by itself in TypeScript. */
const WITHOUT_TYPESCRIPT = [
  "constructor-super",
  "getter-return",
  "no-class-assign",
  "no-const-assign",
  "no-dupe-class-members",
  "no-dupe-keys",
  "no-func-assign",
  "no-import-assign",
  "no-new-native-nonconstructor",
  "no-obj-calls",
  "no-redeclare",
  "no-setter-return",
  "no-this-before-super",
  "no-undef",
  "no-unreachable",
  "no-unsafe-negation",
  "no-with",
];

/**
 * The strict rules of typescript-eslint that need types. `scripts/lint.test.ts` has an example for
 * each.
 */
export const TYPED = {
  ...errors([
    "typescript/await-thenable",
    "typescript/no-array-delete",
    "typescript/no-base-to-string",
    "typescript/no-deprecated",
    "typescript/no-duplicate-type-constituents",
    "typescript/no-floating-promises",
    "typescript/no-for-in-array",
    "typescript/no-generated-empty-object-type",
    "typescript/no-implied-eval",
    "typescript/no-meaningless-void-operator",
    "typescript/no-misused-spread",
    "typescript/no-mixed-enums",
    "typescript/no-redundant-type-constituents",
    "typescript/no-unnecessary-boolean-literal-compare",
    "typescript/no-unnecessary-condition",
    "typescript/no-unnecessary-template-expression",
    "typescript/no-unnecessary-type-arguments",
    "typescript/no-unnecessary-type-assertion",
    "typescript/no-unnecessary-type-conversion",
    "typescript/no-unnecessary-type-parameters",
    "typescript/no-unsafe-argument",
    "typescript/no-unsafe-assignment",
    "typescript/no-unsafe-call",
    "typescript/no-unsafe-enum-assignment",
    "typescript/no-unsafe-enum-comparison",
    "typescript/no-unsafe-member-access",
    "typescript/no-unsafe-return",
    "typescript/no-unsafe-unary-minus",
    "typescript/no-useless-default-assignment",
    "typescript/only-throw-error",
    "typescript/prefer-promise-reject-errors",
    "typescript/prefer-reduce-type-parameter",
    "typescript/prefer-return-this-type",
    "typescript/related-getter-setter-pairs",
    "typescript/require-await",
    "typescript/switch-exhaustiveness-check",
    "typescript/use-unknown-in-catch-callback-variable",
  ]),
  "typescript/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
  "typescript/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
  "typescript/restrict-plus-operands": [
    "error",
    {
      allowAny: false,
      allowBoolean: false,
      allowNullish: false,
      allowNumberAndString: false,
      allowRegExp: false,
    },
  ],
  "typescript/restrict-template-expressions": ["error", { allowNumber: true }],
  "typescript/return-await": ["error", "error-handling-correctness-only"],
};

const CAN_PARSE = {
  object: "URL",
  property: "canParse",
  message:
    "In Node 20 and 22 it refuses hosts beyond ASCII after some thousand calls. Use parseUrl of lib/core/redaction.ts.",
};
const PROCESS_ENV = {
  object: "process",
  property: "env",
  message: "Read the environment in lib/platform/config/env.ts alone.",
};

const SCRIPTS = ["**/*.mjs", "**/*.js", "**/*.cjs"];
const CONFIGS = ["*.config.ts", "*.config.mjs"];
const REPOSITORIES_AND_TESTS = ["**/*repository.ts", "**/*.test.ts"];
/**
 * The ledger has its own connections and database role (ledger/repository.ts hands them out), and
 * its statements stand beside the decision that they carry out: what a commit locks, reads and
 * writes is reviewed together.
 */
const LEDGER_SQL = [
  "entry-reads",
  "post",
  "reads",
  "read-snapshot",
  "verify",
  "write-effects",
].map((name) => `lib/books/ledger/${name}.ts`);
/** Files of the rooms that hold no statements: all but the database's own. */
const ROOM_FILES = ROOMS.flatMap((room) =>
  room === "platform"
    ? ["jobs", "encryption"].map((module) => `lib/platform/${module}/**/*.ts`)
    : [`lib/${room}/**/*.ts`],
);
const STORED_FORM_FILES = STORED_FORMS.map((file) => `lib/${file}.ts`);

const PRODUCTION_RULES = [
  "causeway/no-artifacts-code",
  "causeway/no-enum",
  "causeway/no-default-export",
];

const config = {
  plugins: ["typescript"],
  jsPlugins: ["./scripts/lint-rules.mjs"],
  categories: { correctness: "off" },
  env: { builtin: true, node: true },
  ignorePatterns: [
    ".next/**",
    ".data/**",
    "dist/**",
    "lib/platform/db/generated/**",
    "next-env.d.ts",
    "vendor/**",
  ],
  rules: {
    ...errors(GENERAL),
    ...errors(PRODUCTION_RULES),
    "no-restricted-properties": ["error", PROCESS_ENV, CAN_PARSE],
    "no-restricted-imports": [
      "error",
      { patterns: [{ regex: "^pp-artifacts(/|$)", message: ARTIFACTS_MESSAGE }] },
    ],
    // A longer function or file holds a second idea: give it a name and a place of its own.
    "causeway/function-length": "error",
    "max-lines": ["error", { max: 500 }],
  },
  overrides: [
    { files: ["**/*.ts", "**/*.tsx", "**/*.mts"], rules: TYPED },
    { files: SCRIPTS, rules: errors(WITHOUT_TYPESCRIPT) },
    {
      files: ["public/**/*.js"],
      env: { browser: true, node: false },
      globals: { Scalar: "readonly" },
    },
    {
      // A test is one story, and composition is one list of services.
      files: ["**/*.test.ts", "lib/dev/testing/**/*.ts", "lib/composition/**/*.ts"],
      rules: off(["causeway/function-length"]),
    },
    {
      files: ROOM_FILES,
      excludeFiles: [...REPOSITORIES_AND_TESTS, ...LEDGER_SQL],
      rules: errors(["causeway/sql-in-repository"]),
    },
    {
      files: [
        ...ROOM_FILES,
        "app/api/**/*.ts",
        "lib/{adapters,composition,http,workers}/**/*.ts",
        "lib/composition.ts",
      ],
      excludeFiles: [...REPOSITORIES_AND_TESTS, ...STORED_FORM_FILES],
      rules: errors(["causeway/parse-in-repository"]),
    },
    {
      files: ["components/**/*.tsx", "app/**/*.tsx"],
      excludeFiles: ["components/ui/form.tsx"],
      rules: errors(["causeway/no-plain-form"]),
    },
    { files: ["app/**/*.tsx"], rules: off(PRODUCTION_RULES) },
    {
      files: [".dependency-cruiser.mjs", ...CONFIGS, "e2e/**/*.ts"],
      rules: off(PRODUCTION_RULES),
    },
    {
      files: ["scripts/lint-rules.*", "scripts/vitest-summary.mjs", "oxlint.config.d.mts"],
      rules: off(["causeway/no-default-export"]),
    },
    {
      files: [
        "lib/platform/config/{database,env}.ts",
        "lib/stack/chains-process.ts",
        "scripts/**",
        "e2e/**",
        ...CONFIGS,
        "prisma.config.ts",
      ],
      rules: { "no-restricted-properties": ["error", CAN_PARSE] },
    },
  ],
};

export default config;
