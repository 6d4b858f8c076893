import { ROOMS } from "./scripts/rooms.mjs";
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
const ANY_ROOM = `(?:${ROOMS.join("|")})`;
/**
 * A room: its modules import their own files, other modules of their room and of lower rooms through
 * service.ts alone, the ports and the common parts of these rooms, core and contracts.
 */
const room = (name, at) => {
  const reach = `lib/(?:${ROOMS.slice(0, at + 1).join("|")})`;
  return only(
    name,
    `A module of ${name} → its own files, the service.ts of modules in its room and in ${ROOMS.slice(0, at).join(", ") || "no lower one"}, their ports and common parts.`,
    {
      path: `^lib/${name}/([^/]+)/`,
      pathNot: `${tests}|^lib/platform/(?:config|db|log|os|telemetry)/|^lib/\\w+/ports/`,
    },
    [
      `lib/${name}/$1/`,
      `${reach}/[^/]+/service\\.ts$`,
      `${reach}/ports/`,
      "lib/core/",
      "lib/contracts/",
      "lib/platform/db/",
      ...(at > 0 ? ["lib/chain/[^/]+\\.ts$", "lib/chain/erc4337/", "lib/chain/solidity/"] : []),
    ],
  );
};
const tests = "\\.test\\.tsx?$|^lib/dev/testing/";
/**
 * Files that declare the schema of a column, or build the plan of a leg as it is stored; they read
 * no row.
 */
const columns = [
  "money/operations/(gas-wait|refund-attention)",
  "chain/smart-accounts/permits",
  "money/privacy/(leg-routing|shield|public-exit)",
];
const storedForms = [...STORED_FORMS, ...columns].map((file) => `^lib/${file}\\.ts$`);
/** The files whose repositories hand Prisma's row types to the stored forms of the same folder. */
const rowTypes = STORED_FORMS.filter((file) => file.startsWith("money/operations/")).map(
  (file) => `^lib/${file}\\.ts$`,
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
    only(
      "core",
      "core → nothing: pure, browser-safe.",
      { path: "^lib/core/", pathNot: tests },
      ["lib/core/"],
    ),
    only("contracts", "contracts → core.", { path: "^lib/contracts/", pathNot: tests }, [
      "lib/contracts/",
      "lib/core/",
    ]),
    only(
      "ports",
      "ports → core, and the ports of lower rooms.",
      { path: "^lib/\\w+/ports/", pathNot: tests },
      ["lib/\\w+/ports/", "lib/core/", "lib/platform/db/codecs\\.ts$"],
    ),
    only(
      "api-client",
      "api-client → contracts (and through them core).",
      { path: "^lib/api-client/", pathNot: tests },
      ["lib/api-client/", "lib/contracts/", "lib/core/"],
    ),
    only(
      "config",
      "config → core: the environment and the chain file, read once.",
      { path: "^lib/platform/config/", pathNot: tests },
      ["lib/platform/config/", "lib/core/"],
    ),
    only(
      "telemetry",
      "telemetry → core, log: the registry of metrics, and traces. It counts the lines that log drops.",
      { path: "^lib/platform/telemetry/", pathNot: tests },
      ["lib/platform/telemetry/", "lib/platform/log/", "lib/core/"],
    ),
    only(
      "log",
      "log → core: the logger of every server process.",
      { path: "^lib/platform/log/", pathNot: tests },
      ["lib/platform/log/", "lib/core/"],
    ),
    only(
      "os",
      "os → nothing: processes, ports and files of the operating system, in plain Node.",
      { path: "^lib/platform/os/" },
      ["lib/platform/os/"],
    ),
    only(
      "db",
      "db → core, config, os.",
      { path: "^lib/platform/db/", pathNot: `${tests}|^lib/platform/db/generated/` },
      ["lib/platform/db/", "lib/core/", "lib/platform/config/", "lib/platform/os/"],
    ),
    ...ROOMS.map(room),
    only(
      "chain-parts",
      "The common parts of chain (registry, RPC, reads) → core, config.",
      { path: "^lib/chain/[^/]+\\.ts$", pathNot: tests },
      [
        "lib/chain/[^/]+\\.ts$",
        "lib/chain/(erc4337|solidity)/",
        "lib/core/",
        "lib/platform/config/",
      ],
    ),
    only(
      "adapters",
      "adapters → core, ports, chain, config, os; and their own folder.",
      { path: "^lib/adapters/([^/]+)/", pathNot: tests },
      [
        "lib/adapters/$1/",
        "lib/core/",
        "lib/\\w+/ports/",
        "lib/chain/",
        "lib/platform/config/",
        "lib/platform/os/",
      ],
    ),
    only(
      "devnet",
      "devnet → core, ports, chain, config, os: nothing else knows that a chain is local.",
      { path: "^lib/dev/devnet/", pathNot: tests },
      [
        "lib/dev/devnet/",
        "lib/core/",
        "lib/\\w+/ports/",
        "lib/chain/",
        "lib/platform/config/",
        "lib/platform/os/",
      ],
    ),
    {
      name: "devnet-is-a-leaf",
      comment: "Only composition, the supervisor, scripts and tests may know the local chains.",
      severity: "error",
      from: {
        pathNot: `^lib/dev/devnet/|^lib/composition\\.ts$|^lib/stack/|^scripts/|^e2e/|${tests}`,
      },
      to: { path: "^lib/dev/devnet/" },
    },
    only(
      "http",
      "http → core, contracts, api-client (for pages), composition, config, log, telemetry, encryption of stored answers.",
      { path: "^lib/http/", pathNot: tests },
      [
        "lib/http/",
        "lib/platform/log/",
        "lib/platform/telemetry/",
        "lib/platform/encryption/aes-gcm\\.ts$",
        "lib/core/",
        "lib/contracts/",
        "lib/api-client/",
        "lib/composition\\.ts$",
        "lib/composition/replica\\.ts$",
        "lib/platform/config/",
      ],
    ),
    only(
      "workers",
      "workers → composition, core, and the job runner.",
      { path: "^lib/workers/", pathNot: tests },
      [
        "lib/workers/",
        "lib/platform/jobs/service\\.ts$",
        "lib/composition\\.ts$",
        "lib/core/",
        "lib/platform/config/",
      ],
    ),
    only(
      "routes",
      "app/api → http, contracts, module serializers; no next/* so that server.ts can call them. next-auth's own route is the exception.",
      { path: "^app/api/", pathNot: `${tests}|^app/api/auth/\\[\\.\\.\\.nextauth\\]/` },
      [
        "lib/http/",
        "lib/platform/log/",
        "lib/contracts/",
        "lib/core/",
        `lib/${ANY_ROOM}/[^/]+/serializer\\.ts$`,
      ],
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
      from: {
        path: "^(lib|app|components)/",
        pathNot: `^lib/platform/db/|repository\\.ts$|${tests}|^lib/stack/`,
      },
      to: {
        path: "^node_modules/(@prisma|pg)/|^lib/platform/db/generated/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "stored-forms-in-repositories",
      comment:
        "Rows and JSON columns are parsed once, in repositories and the files that hold a stored form; everybody else works with domain types.",
      severity: "error",
      from: { path: "^lib/modules/", pathNot: ["repository\\.ts$", ...storedForms, tests] },
      to: { path: "^lib/money/ports/routing-json\\.ts$" },
    },
    {
      name: "rows-stay-in-repositories",
      comment:
        "No other file names a type of Prisma's rows, not even by `import type`. Operations and legs have too many columns to declare them twice.",
      severity: "error",
      from: {
        path: "^(lib|app|components)/",
        pathNot: ["^lib/platform/db/", "repository\\.ts$", ...rowTypes, tests],
      },
      to: { path: "^lib/platform/db/generated/" },
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
    exclude: { path: "^(\\.next|dist|\\.data|lib/platform/db/generated/internal)" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
