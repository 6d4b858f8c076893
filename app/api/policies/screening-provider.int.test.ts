/** A screening provider that is set by SCREENING_URL, over real HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";

const TOKEN = "token-of-the-provider";
const VERSION = "2026-11-26";
const listed = new Set<string>();
const asked: { readonly address: string; readonly authorization: string | undefined }[] = [];

const provider = createServer((request, response) => {
  const answer = (body: string): void => {
    const { addresses } = JSON.parse(body) as {
      addresses: { address: string; chainId: number | null }[];
    };
    const { authorization } = request.headers;
    asked.push(...addresses.map(({ address }) => ({ address, authorization })));
    const results = addresses.map((each) => ({
      ...each,
      verdict: listed.has(each.address) ? "hit" : "clear",
    }));
    response.end(JSON.stringify({ listVersion: VERSION, results }));
  };
  // A caller that gives up may end the connection amid its body.
  void text(request).then(answer, () => undefined);
});
await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});
const { port } = provider.address() as AddressInfo;
const api = await testApi({
  variables: {
    SCREENING_URL: `http://127.0.0.1:${String(port)}/screen`,
    SCREENING_TOKEN: TOKEN,
  },
});
const { prisma } = api.services.database;

const recordsOf = ({ projectId }: FundedCustomer) =>
  prisma.screeningRecord.findMany({ where: { projectId }, orderBy: { id: "asc" } });

test("a recipient that the provider lists is refused, and the record names the provider and its list", async () => {
  const of = await fundedCustomer(api);
  const recipient = testAccount().address;
  listed.add(recipient);
  const refusal: unknown = await sendUsdc(of, "1", recipient).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    status: 403,
    code: "screening_refused",
    message: expect.stringContaining(`provider version ${VERSION}`) as unknown,
    body: { details: [{ path: "recipient", code: "hit" }] },
  });
  expect(asked).toContainEqual({ address: recipient, authorization: `Bearer ${TOKEN}` });
  expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
  const records = await recordsOf(of);
  expect(records).toMatchObject([{ outcome: "stopped", phase: "accept" }]);
  expect(records[0]?.findings).toEqual([
    { address: recipient, state: "hit", source: "provider", listVersion: VERSION },
  ]);
});

test("a recipient that the provider clears is paid, and the record names the provider that cleared it", async () => {
  const of = await fundedCustomer(api);
  const recipient = testAccount().address;
  const { operationId } = await sendUsdc(of, "1", recipient);
  expect(asked.map(({ address }) => address)).toContain(recipient);
  const records = await recordsOf(of);
  expect(records).toMatchObject([{ outcome: "passed", subjectId: operationId, findings: [] }]);
  expect(records[0]?.sources).toEqual([
    { source: "provider", listVersion: VERSION, state: "clear", count: 2 },
  ]);
});
