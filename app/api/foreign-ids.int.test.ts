/**
 * Every operation with an id in its path: the id of another project's object gets the answer of an
 * id that names nothing.
 */
import { beforeAll, expect, test } from "vitest";
import { namedContracts, type NamedContract } from "@/lib/contracts/all";
import { SCOPES } from "@/lib/contracts/contract";
import { newId, type IdKind } from "@/lib/core/ids";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import { quarantinedDeposit } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  browserOf,
  channelOf,
  invitationOf,
  openRequest,
  passkeyOf,
} from "@/lib/dev/testing/people-attacks";
import { putRules } from "@/lib/dev/testing/policies";
import { storedPrivateTransfer } from "@/lib/dev/testing/private-transfer";
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
  attackFixture,
  transferBody,
} from "@/lib/dev/testing/token-attacks";

type Maker = () => Promise<unknown>;

/** The evaluation of a movement that a policy refused. */
const refusedEvaluation: Maker = async () => {
  const rules = { perOperation: { usd: "0.5" } };
  await putRules(attackFixture().customer.session, { scope: "project", baseVersion: 0, rules });
  return (await operationOf(attackFixture())).body.evaluationId;
};

const privateWalletOf = async (name: string): Promise<string> =>
  String((await call("POST", "/privacy/wallets", { name })).body.id);

/** A private transfer with its operation, without money behind it. */
const privateTransferOf: Maker = async () => {
  const { operationId } = (await operationOf(attackFixture())).body;
  return storedPrivateTransfer(theApi().services, {
    operationId: String(operationId),
    walletId: await privateWalletOf("Reserve"),
  });
};

/** By the path up to the id: its kind, and how the other project gets an object of it. */
const OBJECTS: Readonly<Record<string, readonly [IdKind, Maker]>> = {
  "/auth/api-keys": ["apiKey", keyOf],
  "/annotations": [
    "operation",
    async () => (await operationOf(attackFixture())).body.operationId,
  ],
  "/contacts": [
    "contact",
    async () =>
      (await call("POST", "/contacts", { name: "Eve", address: testAccount().address })).body
        .id,
  ],
  "/global-accounts": ["globalAccount", () => Promise.resolve(attackFixture().accounts[0])],
  "/operations": [
    "operation",
    async () => (await operationOf(attackFixture())).body.operationId,
  ],
  "/payouts/schedules": [
    "payoutSchedule",
    async () => (await scheduleOf(attackFixture())).body.id,
  ],
  "/payouts": ["payout", async () => (await payoutOf(attackFixture())).body.payoutId],
  "/transfers": [
    "transfer",
    async () =>
      (await call("POST", "/transfers", transferBody(attackFixture()))).body.transferId,
  ],
  "/wallets": ["wallet", () => Promise.resolve(attackFixture().customer.treasuryId)],
  "/privacy/wallets": ["privacyWallet", () => privateWalletOf("Payroll")],
  "/privacy/transfers": ["transfer", privateTransferOf],
  "/deposits": [
    "operation",
    () => quarantinedDeposit(theApi().services, attackFixture().customer),
  ],
  "/webhook-endpoints": ["webhookEndpoint", endpointOf],
  "/deliveries": ["delivery", deliveryOf],
  "/members": ["user", async () => (await call("GET", "/me")).body.id],
  "/projects": [
    "project",
    async () =>
      ((await call("GET", "/me")).body as { projects: { id: string }[] }).projects[0]?.id,
  ],
  "/jobs": ["operation", async () => (await operationOf(attackFixture())).body.operationId],
  "/me/sessions": [
    "session",
    async () =>
      ((await call("GET", "/me/sessions")).body as { data: { id: string }[] }).data[0]?.id,
  ],
  "/me/passkeys": ["passkey", passkeyOf],
  "/approvals": ["decision", openRequest],
  "/invitations": ["invitation", invitationOf],
  "/me/push-subscriptions": ["pushSubscription", browserOf],
  "/notifications/channels": ["notificationChannel", channelOf],
  "/exports": [
    "export",
    async () => (await call("POST", "/exports", { kind: "activity", format: "csv" })).body.id,
  ],
  // The last one, because its policy refuses what the makers above ask for.
  "/policies/evaluations": ["evaluation", refusedEvaluation],
};

/** Operations whose objects this file does not make, each with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "/wallets/link": "an address is no secret id",
  "/dev/webhook-receiver": "public, and its token is the secret",
  "/errors": "public, and a code is no id",
  "/reserves": "a currency is no secret id",
};

const baseOf = (path: string): string => path.slice(0, path.indexOf("/{"));
const withIds = namedContracts.filter(({ contract }) => contract.path.includes("{"));
const tested = withIds.filter(({ contract }) => baseOf(contract.path) in OBJECTS);
const made = new Map<string, string>();
/** Somebody of another project, and a key of that project with every scope. */
const stranger = { token: "", key: "" };
type Caller = keyof typeof stranger;

const headersOf = (caller: Caller): Readonly<Record<string, string>> =>
  caller === "token"
    ? { authorization: `Bearer ${stranger.token}` }
    : { "x-api-key": stranger.key };

const answerOf = async (
  { operationId, contract: { method, path } }: NamedContract,
  caller: Caller,
  id: string,
): Promise<object> => {
  const legId = newId("leg");
  const response = await theApi().fetch(path.replace("{id}", id).replace("{legId}", legId), {
    method,
    headers: { ...headersOf(caller), "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: JSON.stringify(EXAMPLES[operationId]?.request ?? {}) }),
  });
  const text = await response.text();
  // The answers may differ in the id of the request alone.
  return { status: response.status, text: text.replace(/req_[0-9a-f-]{36}/g, "req") };
};

beforeAll(async () => {
  await startWorld();
  const session = await theApi().signIn();
  stranger.token = session.accessToken;
  stranger.key = (await theApi().createKey(session, { scopes: [...SCOPES] })).secret;
  for (const [base, [, make]] of Object.entries(OBJECTS)) made.set(base, String(await make()));
});

test("every path with an id has an object of another project here, or a reason", () => {
  const bases = new Set(withIds.map(({ contract }) => baseOf(contract.path)));
  expect([...bases].sort()).toEqual(
    [...Object.keys(OBJECTS), ...Object.keys(ELSEWHERE)].sort(),
  );
});

const cases = tested.flatMap((one) => [
  [one.operationId, "token", one] as const,
  ...(one.contract.auth === "member" ? [[one.operationId, "key", one] as const] : []),
]);

test.each(cases)("%s by the %s of a stranger", async (_id, caller, one) => {
  const base = baseOf(one.contract.path);
  const kind = OBJECTS[base]?.[0] ?? "operation";
  const foreign = made.get(base) ?? "";
  expect(foreign, "The other project's object was made.").toMatch(/^[a-z]+_[0-9a-f-]{36}$/);
  const answer = await answerOf(one, caller, foreign);
  expect(answer).toEqual(await answerOf(one, caller, newId(kind)));
  expect(answer).toMatchObject({ status: 404 });
});

const READS = tested.filter(
  ({ operationId, contract }) => contract.method === "GET" || operationId === "renamePasskey",
);

test.each(READS.map((one) => [one.operationId, one] as const))(
  "%s finds the object for its own project, so that the answers above are about whose it is",
  async (operationId, { contract: { method, path } }) => {
    const response = await theApi().fetch(path.replace("{id}", made.get(baseOf(path)) ?? ""), {
      method,
      headers: {
        authorization: `Bearer ${attackFixture().customer.session.accessToken}`,
        "content-type": "application/json",
      },
      ...(method === "GET"
        ? {}
        : { body: JSON.stringify(EXAMPLES[operationId]?.request ?? {}) }),
    });
    // Some of them are streams without an end.
    await response.body?.cancel();
    // 409: the account is found, and is in no proof of reserves yet. A worker makes one from time
    // to time.
    expect(operationId === "getReservesProof" ? [200, 409] : [200]).toContain(response.status);
  },
);
