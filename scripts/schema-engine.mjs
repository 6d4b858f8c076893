#!/usr/bin/env node
// Replaces Prisma's native `schema-engine`, which would be downloaded from binaries.prisma.sh. It
// speaks the same JSON-RPC protocol, and uses the WASM build of the same engine with
// @prisma/adapter-pg.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import pg from "pg";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
} from "@prisma/driver-adapter-utils";

const glueUrl = import.meta.resolve("@prisma/schema-engine-wasm/schema_engine_bg");
const argv = process.argv.slice(2);
const opt = (n) => {
  const i = argv.indexOf(n);
  return i < 0 ? undefined : argv[i + 1];
};
const log = (level, message, extra = {}) =>
  process.stderr.write(
    JSON.stringify({
      timestamp: new Date().toISOString(),
      level,
      fields: { message, ...extra },
      target: "schema_engine::logger",
    }) + "\n",
  );

if (argv.includes("--version") || argv.includes("-V")) {
  const v = createRequire(import.meta.url)(
    join(dirname(fileURLToPath(glueUrl)), "package.json"),
  ).version;
  console.log(`schema-engine-cli ${v.split(".").pop()}`);
  process.exit(0);
}

const ds = JSON.parse(opt("--datasource") ?? "{}");
const parse = (s) => {
  const u = new URL(s);
  const schema = u.searchParams.get("schema") ?? "public";
  for (const k of ["schema", "connection_limit", "pool_timeout", "pgbouncer"])
    u.searchParams.delete(k);
  return { url: u, db: decodeURIComponent(u.pathname.slice(1)) || "postgres", schema };
};
const withDb = (u, db) => {
  const c = new URL(u);
  c.pathname = "/" + encodeURIComponent(db);
  return c.toString();
};

const toPrismaError = (e) => {
  const m = e?.message || String(e),
    code = e?.code;
  if (code === "3D000") return ["P1003", m];
  if (code === "28P01" || code === "28000") return ["P1000", m];
  if (["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "EHOSTUNREACH"].includes(code) || e?.errors)
    return ["P1001", `Can't reach database server at ${parse(ds.url).url.host}`];
  return [undefined, m];
};
const runSql = async (connectionString, sql) => {
  const c = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  await c.connect();
  try {
    return await c.query(sql);
  } finally {
    await c.end();
  }
};

const cli = argv.indexOf("cli");
if (cli >= 0) {
  // The CLI skips the first line of stderr, and expects JSON log lines after it.
  log("INFO", "schema-engine (wasm)");
  try {
    const { url, db } = parse(ds.url);
    const q = `"${db.replaceAll('"', '""')}"`;
    switch (argv[cli + 1]) {
      case "can-connect-to-database":
        await runSql(url.toString(), "SELECT 1");
        break;
      case "create-database":
        await runSql(withDb(url, "postgres"), `CREATE DATABASE ${q}`);
        break;
      case "drop-database":
        await runSql(withDb(url, "postgres"), `DROP DATABASE ${q}`);
        break;
      default:
        throw new Error("unknown cli command " + argv[cli + 1]);
    }
    process.exit(0);
  } catch (e) {
    const [error_code, message] = toPrismaError(e);
    log("ERROR", message, { is_panic: false, error_code: error_code ?? "P1010" });
    process.exit(1);
  }
}

// adapter-pg lacks two things that the schema engine needs. First, it splits a script at each `;`,
// which breaks $$ bodies and quoted semicolons, so a script is sent as one simple-query message.
// Second, it does not know pg_catalog's internal type "char" (oid 18), which introspection queries
// return.
const CHAR = Symbol("char columns");
const tagChars = (r) => {
  const i = r.fields?.flatMap((f, n) => (f.dataTypeID === 18 ? [n] : []));
  if (i?.length) {
    for (const n of i) r.fields[n].dataTypeID = 25;
    r.rows[CHAR] = i;
  }
  return r;
};
const wrapClient = (c) =>
  new Proxy(c, {
    get: (t, k) =>
      k === "query"
        ? async (...a) => tagChars(await t.query(...a))
        : k === "connect"
          ? async () => wrapClient(await t.connect())
          : typeof t[k] === "function"
            ? t[k].bind(t)
            : t[k],
  });
const wrapQueryRaw = (q) => {
  const orig = q.queryRaw.bind(q);
  q.queryRaw = async (x) => {
    const r = await orig(x);
    for (const n of r.rows[CHAR] ?? []) r.columnTypes[n] = ColumnTypeEnum.Character;
    return r;
  };
  return q;
};
const fix = (adapter, close) => {
  const pool = adapter.underlyingDriver();
  adapter.client = wrapClient(pool);
  wrapQueryRaw(adapter);
  const start = adapter.startTransaction.bind(adapter);
  adapter.startTransaction = async (l) => wrapQueryRaw(await start(l));
  adapter.executeScript = async (sql) => {
    try {
      await pool.query(sql);
    } catch (e) {
      adapter.onError(e);
    }
  };
  if (close) adapter.dispose = close(pool);
  return adapter;
};
function factory() {
  const { url, schema } = parse(ds.url ?? "postgresql://unset@localhost:1/unset");
  const main = new PrismaPg(
    { connectionString: url.toString(), max: 1, options: `-c search_path="${schema}"` },
    { schema },
  );
  return {
    provider: "postgres",
    adapterName: main.adapterName,
    connect: async () => fix(await main.connect()),
    connectToShadowDb: async () => {
      if (ds.shadowDatabaseUrl) {
        const s = parse(ds.shadowDatabaseUrl);
        await runSql(
          s.url.toString(),
          `DROP SCHEMA IF EXISTS "${s.schema}" CASCADE; CREATE SCHEMA "${s.schema}"`,
        );
        return fix(
          await new PrismaPg(
            { connectionString: s.url.toString(), max: 1 },
            { schema: s.schema },
          ).connect(),
        );
      }
      const name = `prisma_migrate_shadow_db_${crypto.randomUUID()}`;
      await runSql(url.toString(), `CREATE DATABASE "${name}"`);
      const a = await new PrismaPg(
        { connectionString: withDb(url, name), max: 1 },
        { schema },
      ).connect();
      let done;
      return fix(
        a,
        (pool) => () =>
          (done ??= (async () => {
            await pool.end();
            await runSql(url.toString(), `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
          })()),
      );
    },
  };
}

const glue = await import(glueUrl);
const { instance } = await WebAssembly.instantiate(
  readFileSync(join(dirname(fileURLToPath(glueUrl)), "schema_engine_bg.wasm")),
  { "./schema_engine_bg.js": glue },
);
glue.__wbg_set_wasm(instance.exports);
globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  message: "",
  get() {
    return this.message;
  },
  set_message(m) {
    this.message = m;
  },
};
instance.exports.__wbindgen_start();
process.on("uncaughtException", (e) => {
  log("ERROR", globalThis.PRISMA_WASM_PANIC_REGISTRY.get() || String(e?.stack ?? e));
  process.exit(101);
});

const datamodels = argv.flatMap((a, i) =>
  a === "--datamodels" ? [[argv[i + 1], readFileSync(argv[i + 1], "utf8")]] : [],
);
let enginePromise;
const adapter = bindMigrationAwareSqlAdapterFactory(factory());
const engine = () =>
  (enginePromise ??= glue.SchemaEngine.new(
    { datamodels: datamodels.length ? datamodels : undefined },
    () => {},
    adapter,
  ));

const rename = { getDatabaseVersion: "version" };
const send = (o) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\n");
const clean = (v) =>
  v instanceof Map ? Object.fromEntries([...v].map(([k, x]) => [k, clean(x)])) : v;
let printId = 1e6;
let queue = Promise.resolve();
const rl = createInterface({ input: process.stdin });
rl.on("line", (line) => {
  const req = JSON.parse(line);
  if (!req.method) return; // The message is the CLI's answer to this script's own "print" request.
  queue = queue.then(async () => {
    try {
      if (req.method === "createDatabase") {
        const p = parse(req.params.datasource.url ?? ds.url);
        await runSql(withDb(p.url, "postgres"), `CREATE DATABASE "${p.db}"`);
        return send({ id: req.id, result: { databaseName: p.db } });
      }
      if (req.method === "dbExecute") {
        await runSql(
          parse(req.params.datasourceType?.url ?? ds.url).url.toString(),
          req.params.script,
        );
        return send({ id: req.id, result: {} });
      }
      const e = await engine();
      const result = clean(await e[rename[req.method] ?? req.method](req.params ?? {})) ?? {};
      if (req.method === "diff" && result.stdout != null) {
        send({
          id: printId++,
          method: "print",
          params: { content: result.stdout.replace(/\n$/, "") },
        });
        delete result.stdout;
      }
      send({ id: req.id, result });
    } catch (err) {
      const panic = globalThis.PRISMA_WASM_PANIC_REGISTRY.get();
      const [fallback, message] = toPrismaError(err);
      send({
        id: req.id,
        error: {
          code: 4466,
          message: "An error happened. Check the data field for details.",
          data: {
            is_panic: err?.name === "RuntimeError",
            message: panic || message,
            error_code: /^P\d{4}$/.test(err?.code) ? err.code : fallback,
            meta: err?.meta ?? {},
          },
        },
      });
    }
  });
});
rl.on("close", () => queue.then(() => process.exit(0)));
