import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { beforeAll, expect, test } from "vitest";
import { testApi } from "@/lib/testing/api";
import { testAccount } from "@/lib/testing/factories";
import { serveApi } from "@/lib/testing/http";
import { codesOf, fund, newCustomer } from "@/lib/testing/journey";
import { afterFile } from "@/lib/testing/after-file";

const CHAIN = 31337;
const OTHER_CHAIN = 31338;

const api = await testApi({ worker: true });
const baseUrl = await serveApi(api.services);

/** The first TypeScript program of docs/api.md. */
const documentedProgram = (): string => {
  const program = /```ts\n([\s\S]*?)```/.exec(readFileSync("docs/api.md", "utf8"))?.[1];
  if (program === undefined) throw new Error("docs/api.md has no program.");
  return program;
};

/** Below the repository, so that packages are found. */
const newFolder = (): string => {
  mkdirSync(".data", { recursive: true });
  const folder = resolve(mkdtempSync(".data/typed-client-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const problemsOf = (file: string): string[] => {
  const program = ts.createProgram([file], {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
};

interface Program {
  readonly moveMoney: (job: object) => Promise<{ readonly status: string; readonly kind: string }>;
}

const file = join(newFolder(), "program.ts");

beforeAll(async () => {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenAPI3;
  writeFileSync(join(dirname(file), "openapi.d.ts"), astToString(await openapiTS(document, { silent: true })));
  writeFileSync(file, documentedProgram());
});

test("the documented program compiles in strict mode against the types of the served document", () => {
  expect(problemsOf(file)).toEqual([]);
});

test("the documented program moves money with the generated client", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "20" });
  const { secret } = await api.createKey(customer.session);
  const seen = await codesOf(api, customer);
  const { moveMoney } = (await import(file)) as Program;
  const operation = await moveMoney({
    baseUrl,
    apiKey: secret,
    quote: {
      from: [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "10" }],
      toChainId: OTHER_CHAIN,
      toToken: "USDC",
      toAddress: testAccount().address,
    },
    readCode: () => api.readCode(customer.email, seen),
    pause: () => new Promise((resume) => setTimeout(resume, 100)),
  });
  expect(operation).toMatchObject({ status: "completed", kind: "swap" });
});
