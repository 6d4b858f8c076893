/** Checks the programs, JSON texts and event streams that the documents show. */
import { generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { streamChanges } from "@/lib/contracts/changes";
import type { EventType } from "@/lib/contracts/events";
import { strict } from "@/lib/contracts/strict";
import { WEBHOOK_PAYLOADS } from "@/lib/contracts/webhook-payloads";
import { readRates } from "@/lib/adapters/rate-file/rate-file";
import { tokenConfig } from "@/lib/platform/config/chains";
import { openApiDocument } from "@/lib/http/openapi";
import { readListFile } from "@/lib/trust/screening/list-file";
import { codeFolder, compileProblems } from "@/lib/dev/testing/compile-typescript";
import { allFences, placeOf, type Fence } from "@/lib/dev/testing/documents";
import { withExamples } from "@/lib/dev/testing/shown-calls";

/** The OpenAPI document has a megabyte, and the compiler reads all types that it generates. */
const COMPILES_MS = 180_000;

const fences = allFences();
const inLanguage = (language: string): readonly Fence[] =>
  fences.filter((fence) => fence.language === language);

test("each fenced text has a language that a test reads", () => {
  const CHECKED: Readonly<Record<string, string>> = {
    sh: "scripts/docs-commands.test.ts and lib/http/docs-requests.test.ts",
    ts: "below",
    json: "below",
    yaml: "lib/platform/telemetry/ops-files.test.ts",
    sql: "lib/platform/db/docs-sql.int.test.ts",
    "": "drawings, and streams below",
  };
  expect(fences.filter(({ language }) => !(language in CHECKED)).map(placeOf)).toEqual([]);
});

const folder = codeFolder();

/**
 * Whether the snippet is quoted from a file of the repository. Such a snippet is compiled with its
 * file; all others are complete programs.
 */
const isQuoted = ({ info }: Fence): boolean => info !== "";

test(
  "each program of the documents compiles in strict mode against the types of the document",
  async () => {
    const document = openApiDocument(namedContracts) as unknown as OpenAPI3;
    writeFileSync(
      join(folder, "openapi.d.ts"),
      astToString(await openapiTS(document, { silent: true })),
    );
    const programs = inLanguage("ts").filter((fence) => !isQuoted(fence));
    expect(programs.length).toBeGreaterThanOrEqual(2);
    const files = programs.map((fence, index) => {
      const file = join(folder, `${basename(fence.file, ".md")}-${String(index)}.ts`);
      writeFileSync(file, fence.text);
      return file;
    });
    const more = {
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
    };
    expect(compileProblems(files, more)).toEqual([]);
  },
  COMPILES_MS,
);

test("each text that is quoted from a file stands there", () => {
  const quoted = inLanguage("ts").filter(isQuoted);
  expect(quoted.length).toBeGreaterThanOrEqual(2);
  for (const { file, info, text } of quoted)
    expect(readFileSync(info, "utf8"), `${file} quotes ${info}`).toContain(text);
});

const SCREENED_AT = new Date("2026-11-25T00:00:00Z");

/** Signs a screening list with a new key, and reads it as `npm run screening:import` does. */
const readList = (list: string): unknown => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const signature = sign(null, Buffer.from(list), privateKey).toString("base64");
  const file = { payload: Buffer.from(list).toString("base64"), keyId: "docs", signature };
  const bytes = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return readListFile(JSON.stringify(file), new Map([["docs", bytes]]), SCREENED_AT);
};

const readEvent = (event: string): unknown => {
  const value = JSON.parse(event) as { type: EventType };
  return WEBHOOK_PAYLOADS.get(value.type)?.parse(value);
};

/** The parser for the JSON snippets of each document. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "docs/webhooks.md": readEvent,
  "docs/operations.md": (text) => (text.includes('"usd"') ? readRates(text) : readList(text)),
  "docs/how-to/add-a-token.md": (text) => strict(tokenConfig).parse(JSON.parse(text)),
};

test.each(inLanguage("json").map((fence) => [placeOf(fence), fence] as const))(
  "the JSON of %s is read",
  (_, fence) => {
    const read = READERS[fence.file];
    if (read === undefined)
      throw new Error("No reader is named for the JSON of this document.");
    // A parser throws when a field is wrong, and returns undefined for an event of an unknown type.
    expect(read(withExamples(fence.text))).toBeDefined();
  },
);

test("each stream that the documents show has the form of its events", () => {
  const events = fences.filter(({ text }) => text.startsWith("event: "));
  expect(events).toHaveLength(1);
  for (const { text } of events)
    for (const [, data = ""] of text.matchAll(/^data: (.*)$/gm))
      strict(streamChanges.response).parse(JSON.parse(withExamples(data)));
});
