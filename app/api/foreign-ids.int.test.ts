/** Every operation with an id in its path: the id of another project's object gets the answer of an id that names nothing. */
import { beforeAll, expect, test } from "vitest";
import { namedContracts, type NamedContract } from "@/lib/contracts/all";
import { newId, type IdKind } from "@/lib/core/ids";
import { EXAMPLES } from "@/lib/http/openapi-examples";
import { testAccount } from "@/lib/testing/factories";
import {
  call,
  deliveryOf,
  endpointOf,
  keyOf,
  operationOf,
  payoutOf,
  scheduleOf,
  startWorld,
  theApi,
  theWorld,
  transferBody,
} from "@/lib/testing/token-attacks";

type Maker = () => Promise<unknown>;

/** By the path up to the id: its kind, and how the other project gets an object of it. */
const OBJECTS: Readonly<Record<string, readonly [IdKind, Maker]>> = {
  "/auth/api-keys": ["apiKey", keyOf],
  "/annotations": ["operation", async () => (await operationOf(theWorld())).body.operationId],
  "/contacts": [
    "contact",
    async () => (await call("POST", "/contacts", { name: "Eve", address: testAccount().address })).body.id,
  ],
  "/global-accounts": ["globalAccount", () => Promise.resolve(theWorld().accounts[0])],
  "/operations": ["operation", async () => (await operationOf(theWorld())).body.operationId],
  "/payouts/schedules": ["payoutSchedule", async () => (await scheduleOf(theWorld())).body.scheduleId],
  "/payouts": ["payout", async () => (await payoutOf(theWorld())).body.payoutId],
  "/transfers": ["transfer", async () => (await call("POST", "/transfers", transferBody(theWorld()))).body.transferId],
  "/wallets": ["wallet", () => Promise.resolve(theWorld().customer.treasuryId)],
  "/privacy/wallets": [
    "privacyWallet",
    async () => (await call("POST", "/privacy/wallets", { name: "Payroll" })).body.privacyWalletId,
  ],
  "/webhook-endpoints": ["webhookEndpoint", endpointOf],
  "/deliveries": ["delivery", deliveryOf],
  "/members": ["user", async () => (await call("GET", "/me")).body.id],
  "/projects": [
    "project",
    async () => ((await call("GET", "/me")).body as { projects: { id: string }[] }).projects[0]?.id,
  ],
  "/jobs": ["operation", async () => (await operationOf(theWorld())).body.operationId],
  "/me/sessions": [
    "session",
    async () => ((await call("GET", "/me/sessions")).body as { data: { id: string }[] }).data[0]?.id,
  ],
};

/** Operations whose objects this file does not make, each with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "/approvals": "requests come from a policy: lib/modules/decisions",
  "/deposits": "a deposit needs money from outside: lib/modules/deposits",
  "/invitations": "the invitation needs a signed approval: app/api/members",
  "/me/passkeys": "a passkey needs a device: lib/modules/factors",
  "/policies/evaluations": "an evaluation needs a policy: app/api/policies/what-screens-read",
  "/privacy/transfers": "a private transfer needs a shielded balance: lib/modules/privacy",
  "/wallets/link": "an address is no secret id",
  "/dev/webhook-receiver": "public, and its token is the secret",
};

const baseOf = (path: string): string => path.slice(0, path.indexOf("/{"));
const withIds = namedContracts.filter(({ contract }) => contract.path.includes("{"));
const tested = withIds.filter(({ contract }) => baseOf(contract.path) in OBJECTS);
const made = new Map<string, string>();
let stranger = "";

const answerOf = async ({ operationId, contract: { method, path } }: NamedContract, id: string): Promise<object> => {
  const legId = newId("leg");
  const response = await theApi().fetch(path.replace("{id}", id).replace("{legId}", legId), {
    method,
    headers: { authorization: `Bearer ${stranger}`, "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: JSON.stringify(EXAMPLES[operationId]?.request ?? {}) }),
  });
  const text = await response.text();
  // The answers may differ in the id of the request alone.
  return { status: response.status, text: text.replace(/req_[0-9a-f-]{36}/g, "req") };
};

beforeAll(async () => {
  await startWorld();
  stranger = (await theApi().signIn()).accessToken;
  for (const [base, [, make]] of Object.entries(OBJECTS)) made.set(base, String(await make()));
});

test("every path with an id has an object of another project here, or a reason", () => {
  const bases = new Set(withIds.map(({ contract }) => baseOf(contract.path)));
  expect([...bases].sort()).toEqual([...Object.keys(OBJECTS), ...Object.keys(ELSEWHERE)].sort());
});

test.each(tested.map((one) => [one.operationId, one] as const))("%s", async (_id, one) => {
  const base = baseOf(one.contract.path);
  const kind = OBJECTS[base]?.[0] ?? "operation";
  const foreign = made.get(base) ?? "";
  expect(foreign, "The other project's object was made.").toMatch(/^[a-z]+_[0-9a-f-]{36}$/);
  const answer = await answerOf(one, foreign);
  expect(answer).toEqual(await answerOf(one, newId(kind)));
  expect(answer).toMatchObject({ status: 404 });
});
