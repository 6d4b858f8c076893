import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { codeFolder } from "@/lib/dev/testing/compile-typescript";
import { fencesOf, readDocument } from "@/lib/dev/testing/documents";
import { testAccount } from "@/lib/dev/testing/factories";
import { serveApi } from "@/lib/dev/testing/http";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";

const PAGE = "docs/api.md";
const CHAIN = 31337;
const OTHER_CHAIN = 31338;

const api = await testApi({ worker: true });
const baseUrl = await serveApi(api.services);

interface Program {
  readonly moveMoney: (
    job: object,
  ) => Promise<{ readonly status: string; readonly kind: string }>;
}

/** scripts/docs-snippets.test.ts compiles this program. */
const file = join(codeFolder(), "program.ts");

beforeAll(() => {
  const program = fencesOf(PAGE, readDocument(PAGE)).find(({ language }) => language === "ts");
  writeFileSync(file, program?.text ?? "");
});

test("the documented program moves money with the generated client", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "20",
  });
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
