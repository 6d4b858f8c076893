import { STORED_FORMS } from "./scripts/stored-forms.mjs";

/**
 * Who may import whom: one rule per line of the architecture. `npm run check:boundaries`.
 * @type {import("dependency-cruiser").IConfiguration}
 */
const only = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: "error",
  from,
  to: {
    path: "^(lib|app|components|server\\.ts|prisma|e2e|scripts)",
    pathNot: allowed.map((place) => `^${place}`),
  },
});
const tests = "\\.test\\.tsx?$|^lib/testing/";
/** Files that declare the schema of a column, or build the plan of a leg as it is stored; they read no row. */
const columns = [
  "operations/(gas-wait|refund-attention)",
  "quotes/prepared-leg",
  "smart-accounts/permitted",
  "privacy/(leg-routing|shield|public-exit)",
];
const storedForms = [...STORED_FORMS, ...columns].map((file) => `^lib/modules/${file}\\.ts$`);
/** The files whose repositories hand Prisma's row types to the stored forms of the same folder. */
const rowTypes = STORED_FORMS.filter((file) => file.startsWith("operations/")).map(
  (file) => `^lib/modules/${file}\\.ts$`,
);

export default {
  forbidden: [
    {
      name: "no-cycles",
      comment: "A cycle hides which part stands on which.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    only("core", "core → nothing: pure, browser-safe.", { path: "^lib/core/", pathNot: tests }, ["lib/core/"]),
    only("contracts", "contracts → core.", { path: "^lib/contracts/", pathNot: tests }, [
      "lib/contracts/",
      "lib/core/",
    ]),
    only("ports", "ports → core.", { path: "^lib/ports/", pathNot: tests }, ["lib/ports/", "lib/core/"]),
    only(
      "api-client",
      "api-client → contracts (and through them core).",
      { path: "^lib/api-client/", pathNot: tests },
      ["lib/api-client/", "lib/contracts/", "lib/core/"],
    ),
    only(
      "config",
      "config → core: the environment and the chain file, read once.",
      { path: "^lib/config/", pathNot: tests },
      ["lib/config/", "lib/core/"],
    ),
    only(
      "telemetry",
      "telemetry → core, ports, db, chains: metrics and traces, known to composition, http and server.ts. It counts the lines that log drops.",
      { path: "^lib/telemetry/", pathNot: tests },
      ["lib/telemetry/", "lib/log/", "lib/core/", "lib/ports/", "lib/db/", "lib/chains/"],
    ),
    only("log", "log → core: the logger of every server process.", { path: "^lib/log/", pathNot: tests }, [
      "lib/log/",
      "lib/core/",
    ]),
    only(
      "os",
      "os → nothing: processes, ports and files of the operating system, in plain Node.",
      { path: "^lib/os/" },
      ["lib/os/"],
    ),
    only("db", "db → core, config, os.", { path: "^lib/db/", pathNot: `${tests}|^lib/db/generated/` }, [
      "lib/db/",
      "lib/core/",
      "lib/config/",
      "lib/os/",
    ]),
    only("chains", "chains → core, config.", { path: "^lib/chains/", pathNot: tests }, [
      "lib/chains/",
      "lib/core/",
      "lib/config/",
    ]),
    only(
      "modules",
      "modules → core, contracts, ports, db, chains (reading), and another module's service.ts alone.",
      { path: "^lib/modules/([^/]+)/", pathNot: tests },
      [
        "lib/modules/$1/",
        "lib/modules/[^/]+/service\\.ts$",
        "lib/core/",
        "lib/contracts/",
        "lib/ports/",
        "lib/db/",
        "lib/chains/",
      ],
    ),
    only(
      "adapters",
      "adapters → core, ports, chains, config, os; and their own folder.",
      { path: "^lib/adapters/([^/]+)/", pathNot: tests },
      ["lib/adapters/$1/", "lib/core/", "lib/ports/", "lib/chains/", "lib/config/", "lib/os/"],
    ),
    only(
      "devnet",
      "devnet → core, ports, chains, config, os: nothing else knows that a chain is local.",
      { path: "^lib/devnet/", pathNot: tests },
      ["lib/devnet/", "lib/core/", "lib/ports/", "lib/chains/", "lib/config/", "lib/os/"],
    ),
    {
      name: "devnet-is-a-leaf",
      comment: "Only composition, the supervisor, scripts and tests may know the local chains.",
      severity: "error",
      from: { pathNot: `^lib/devnet/|^lib/composition\\.ts$|^lib/stack/|^scripts/|^e2e/|${tests}` },
      to: { path: "^lib/devnet/" },
    },
    only(
      "http",
      "http → core, contracts, api-client (for pages), composition, config, log, telemetry, encryption of stored answers.",
      { path: "^lib/http/", pathNot: tests },
      [
        "lib/http/",
        "lib/log/",
        "lib/telemetry/",
        "lib/modules/encryption/text-seal\\.ts$",
        "lib/core/",
        "lib/contracts/",
        "lib/api-client/",
        "lib/composition\\.ts$",
        "lib/config/",
      ],
    ),
    only("workers", "workers → composition, core, and the job runner.", { path: "^lib/workers/", pathNot: tests }, [
      "lib/workers/",
      "lib/modules/jobs/service\\.ts$",
      "lib/composition\\.ts$",
      "lib/core/",
      "lib/config/",
    ]),
    only(
      "routes",
      "app/api → http, contracts, module serializers; no next/* so that server.ts can call them. next-auth's own route is the exception.",
      { path: "^app/api/", pathNot: `${tests}|^app/api/auth/\\[\\.\\.\\.nextauth\\]/` },
      ["lib/http/", "lib/log/", "lib/contracts/", "lib/core/", "lib/modules/[^/]+/serializer\\.ts$"],
    ),
    {
      name: "routes-without-next",
      comment: "server.ts calls route modules directly, so they may not need Next.",
      severity: "error",
      from: { path: "^app/api/", pathNot: `^app/api/auth/\\[\\.\\.\\.nextauth\\]/` },
      to: { path: "^node_modules/next/" },
    },
    only(
      "pages",
      "components and pages → contracts, api-client, core. The layouts also read the public configuration, preferences and the session; the frame of the API reference is made in http.",
      { path: "^(components|app)/.*\\.tsx?$", pathNot: `${tests}|^app/(api|_data)/` },
      [
        "components/",
        "app/.*\\.css$",
        "app/_",
        "lib/contracts/",
        "lib/api-client/",
        "lib/core/",
        "lib/http/(api-reference|public-config|preferences|session)\\.ts$",
      ],
    ),
    only(
      "page-data",
      "app/_data → the GET routes that pages read on the server, through lib/http/page-api.ts alone; and which questions a page asks.",
      { path: "^app/_data/", pathNot: tests },
      [
        "app/_data/",
        "app/api/",
        "components/",
        "lib/contracts/",
        "lib/api-client/",
        "lib/core/",
        "lib/http/page-api\\.ts$",
      ],
    ),
    {
      name: "prisma-in-repositories",
      comment: "Only repositories and db import Prisma or pg.",
      severity: "error",
      from: { path: "^(lib|app|components)/", pathNot: `^lib/db/|repository\\.ts$|${tests}|^lib/stack/` },
      to: { path: "^node_modules/(@prisma|pg)/|^lib/db/generated/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "stored-forms-in-repositories",
      comment:
        "Rows and JSON columns are parsed once, in repositories and the files that hold a stored form; everybody else works with domain types.",
      severity: "error",
      from: { path: "^lib/modules/", pathNot: ["repository\\.ts$", ...storedForms, tests] },
      to: { path: "^lib/ports/routing-json\\.ts$" },
    },
    {
      name: "rows-stay-in-repositories",
      comment:
        "No other file names a type of Prisma's rows, not even by `import type`. Operations and legs have too many columns to declare them twice.",
      severity: "error",
      from: {
        path: "^(lib|app|components)/",
        pathNot: ["^lib/db/", "repository\\.ts$", ...rowTypes, tests],
      },
      to: { path: "^lib/db/generated/" },
    },
    {
      name: "artifacts-are-files",
      comment: "pp-artifacts holds circuit files; the code of that version derives weak keys.",
      severity: "error",
      from: {},
      to: { path: "^node_modules/pp-artifacts/" },
    },
    {
      name: "no-tests",
      comment: "Nothing imports from tests.",
      severity: "error",
      from: { pathNot: `${tests}|^e2e/|^scripts/` },
      to: { path: `${tests}|^e2e/` },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(\\.next|dist|\\.data|lib/db/generated/internal)" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
