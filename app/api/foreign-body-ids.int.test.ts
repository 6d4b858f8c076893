/**
 * Every operation with an id in its body: the id of another project's object gets the answer of an
 * id that names nothing.
 */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { namedContracts } from "@/lib/contracts/all";
import { SCOPES } from "@/lib/contracts/contract";
import { newId, type IdKind } from "@/lib/core/ids";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";
import {
  approvalAsked,
  call,
  keyOf,
  operationOf,
  payoutOf,
  privateQuote,
  quoteOf,
  scheduleOf,
  startWorld,
  theApi,
  attackFixture,
  transferBody,
} from "@/lib/dev/testing/token-attacks";

type Body = Readonly<Record<string, unknown>>;
type Maker = () => Promise<unknown>;

const privateWallet: Maker = async () =>
  (await call("POST", "/privacy/wallets", { name: "Payroll" })).body.id;
const approval: Maker = async () => {
  const { got } = await approvalAsked(
    call("POST", "/auth/api-keys", { name: "x", otp: "exempt", dailyCapUsd: "1" }),
  );
  return got.body.approvalId;
};

/** How the other project gets an object of a kind. */
const MAKERS = {
  wallet: () => Promise.resolve(attackFixture().customer.treasuryId),
  apiKey: keyOf,
  globalAccount: () => Promise.resolve(attackFixture().accounts[0]),
  privacyWallet: privateWallet,
  quote: () => quoteOf(attackFixture()),
  transfer: async () =>
    (await call("POST", "/transfers", transferBody(attackFixture()))).body.transferId,
  operation: async () => (await operationOf(attackFixture())).body.operationId,
  payout: async () => (await payoutOf(attackFixture())).body.payoutId,
  payoutSchedule: async () => (await scheduleOf(attackFixture())).body.id,
  approval,
} as const satisfies Partial<Record<IdKind, Maker>>;
type Kind = keyof typeof MAKERS;

/** Ids of the stranger's own objects, so that no other field of a body is refused first. */
interface Own {
  readonly wallet: string;
  readonly privacyWallet: string;
  readonly account: string;
}

interface Row {
  readonly operationId: string;
  readonly field: string;
  readonly kind: Kind;
  /** The body with the id in the field, from that of the example. */
  readonly bodyOf: (example: Body, id: string, own: Own) => Body;
}

const row = (operationId: string, field: string, kind: Kind, bodyOf?: Row["bodyOf"]): Row => ({
  ...{ operationId, field, kind },
  bodyOf: bodyOf ?? ((example, id) => ({ ...example, [field]: id })),
});
const alone = (operationId: string, field: string, kind: Kind): Row =>
  row(operationId, field, kind, (_, id) => ({ [field]: id }));

const policyOf =
  (scope: "wallet" | "key") =>
  ({ rules }: Body, subjectId: string): Body => ({ scope, subjectId, baseVersion: 0, rules });

const ROWS: readonly Row[] = [
  row("createTransfer", "fromWalletId", "wallet"),
  row("swapAndTransfer", "fromWalletId", "wallet"),
  row("createWalletsPayout", "walletId", "wallet", (example, walletId) => ({
    ...{ ...example, fundFrom: [{ walletId, chainId: 31338, token: "USDC" }] },
  })),
  row(
    "createWalletsPayout",
    "sourceAccountId",
    "globalAccount",
    ({ chainId, transfers }, sourceAccountId) => ({
      ...{ chainId, transfers, sourceAccountId },
    }),
  ),
  row("evaluatePolicies", "fromWalletId", "wallet"),
  row("evaluatePolicies", "keyId", "apiKey", (example, keyId, { wallet: fromWalletId }) => ({
    ...{ ...example, fromWalletId, keyId },
  })),
  row(
    "evaluatePolicies",
    "subjectId",
    "wallet",
    (example, subjectId, { wallet: fromWalletId }) => ({
      ...{ ...example, fromWalletId, draft: { scope: "wallet", subjectId, rules: {} } },
    }),
  ),
  row("putPolicy", "subjectId", "wallet", policyOf("wallet")),
  row("putPolicy", "subjectId", "apiKey", policyOf("key")),
  row("createAccountsPayout", "sourceAccountId", "globalAccount"),
  row(
    "createAccountsPayout",
    "recipientAccountId",
    "globalAccount",
    (example, id, { account: sourceAccountId }) => ({
      ...{
        ...example,
        sourceAccountId,
        transfers: [{ recipientAccountId: id, amount: "1", currency: "USDC" }],
      },
    }),
  ),
  row("shield", "privacyWalletId", "privacyWallet"),
  row("unshield", "privacyWalletId", "privacyWallet"),
  row("startPrivateExit", "privacyWalletId", "privacyWallet"),
  row("privateTransfer", "privacyWalletId", "privacyWallet"),
  row(
    "privateTransfer",
    "toPrivacyWalletId",
    "privacyWallet",
    ({ chainId, token, amount }, id, own) => ({
      ...{ chainId, token, amount, privacyWalletId: own.privacyWallet, toPrivacyWalletId: id },
    }),
  ),
  row(
    "preparePrivateSwap",
    "quoteId",
    "quote",
    (example, quoteId, { privacyWallet: privacyWalletId }) => ({
      ...{ ...example, quoteId, privacyWalletId },
    }),
  ),
  row("preparePrivateSwap", "privacyWalletId", "privacyWallet", (example, privacyWalletId) => ({
    ...{ ...example, quoteId: ownQuote.id, privacyWalletId },
  })),
  alone("executePrivateSwap", "quoteId", "quote"),
  alone("executeSwap", "quoteId", "quote"),
  alone("executeSwap", "transferId", "transfer"),
  row("prepareSwap", "quoteId", "quote", (_, quoteId) => ({ quoteId, otp: "123456" })),
  row("prepareSwap", "transferId", "transfer", (_, transferId) => ({
    transferId,
    otp: "123456",
  })),
  alone("requestOtp", "quoteId", "quote"),
  alone("requestOtp", "transferId", "transfer"),
  alone("requestOtp", "operationId", "operation"),
  alone("requestOtp", "payoutId", "payout"),
  alone("requestOtp", "scheduleId", "payoutSchedule"),
  alone("requestOtp", "approvalId", "approval"),
];

/**
 * Fields that name nothing of a project, or whose object is tested elsewhere, each with the reason.
 */
const EXCUSED: Readonly<Record<string, string>> = {
  chainId: "chains are everybody's",
  chainIds: "chains are everybody's",
  fromChainId: "chains are everybody's",
  toChainId: "chains are everybody's",
  "reverseFunding.transactionId": "of an account that the path names: app/api/global-accounts",
  "startPrivateExit.noteId": "a number that the pool gives, looked up in a wallet",
  "createPayoutSchedule.walletId": "each run looks it up as createWalletsPayout does",
  "executeSwap.actionId": "of the quote that the body names",
  "createQuote.routeId": "names a way over providers and venues, which belongs to nobody",
};

const isOfProject = (operationId: string, field: string): boolean =>
  /[a-z]Ids?$/.test(field) && !(field in EXCUSED) && !(`${operationId}.${field}` in EXCUSED);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/**
 * Names of all fields, except within an approval or a passkey, whose ids are those of the person's
 * proof.
 */
const fieldsOf = ({
  properties = {},
  items,
  anyOf = [],
  oneOf = [],
  allOf = [],
}: Schema): string[] => [
  ...Object.entries(properties).flatMap(([name, schema]) =>
    ["approval", "passkey", "credential", "rules"].includes(name)
      ? []
      : [name, ...fieldsOf(schema)],
  ),
  ...[...(items === undefined ? [] : [items]), ...anyOf, ...oneOf, ...allOf].flatMap(fieldsOf),
];

const stranger = { token: "", key: "" };
type Caller = keyof typeof stranger;
const made = new Map<Kind, string>();
const ownQuote = { id: "" };
let own: Own = { wallet: "", privacyWallet: "", account: "" };

const contractOf = (operationId: string) => {
  const found = namedContracts.find((one) => one.operationId === operationId)?.contract;
  if (found === undefined) throw new Error(`There is no operation ${operationId}.`);
  return found;
};

const answerOf = async ({ operationId, bodyOf }: Row, caller: Caller, id: string) => {
  const { method, path } = contractOf(operationId);
  const body = bodyOf((EXAMPLES[operationId]?.request ?? {}) as Body, id, own);
  const proof: Record<string, string> =
    caller === "token"
      ? { authorization: `Bearer ${stranger.token}` }
      : { "x-api-key": stranger.key };
  const headers = { ...proof, "content-type": "application/json" };
  const response = await theApi().fetch(path, { method, headers, body: JSON.stringify(body) });
  // The answers may differ in the id that was sent and in that of the request alone.
  const text = (await response.text())
    .replaceAll(id, "ID")
    .replace(/req_[0-9a-f-]{36}/g, "req");
  return { status: response.status, text };
};

beforeAll(async () => {
  await startWorld();
  const customer: Customer = await newCustomer(theApi());
  stranger.token = customer.session.accessToken;
  stranger.key = (await theApi().createKey(customer.session, { scopes: [...SCOPES] })).secret;
  for (const [kind, make] of Object.entries(MAKERS))
    made.set(kind as Kind, String(await make()));
  const mine = async (path: string, body: object) =>
    (await call("POST", path, body, stranger.token)).body;
  own = {
    wallet: customer.treasuryId,
    privacyWallet: String((await mine("/privacy/wallets", { name: "Own" })).id),
    account: String((await mine("/global-accounts", { currency: "USDC" })).id),
  };
  ownQuote.id = String((await privateQuote(stranger.token)).body.quoteId);
});

test("every field of a body that names an object of a project has a row here, or a reason", () => {
  const wanted = namedContracts.flatMap(({ operationId, contract: { auth, body } }) =>
    auth === "public" || body === undefined
      ? []
      : [
          ...new Set(
            fieldsOf(
              z.toJSONSchema(body, {
                io: "input",
                unrepresentable: "any",
                reused: "inline",
              }) as Schema,
            ),
          ),
        ]
          .filter((field) => isOfProject(operationId, field))
          .map((field) => `${operationId}.${field}`),
  );
  expect(
    [...new Set(ROWS.map(({ operationId, field }) => `${operationId}.${field}`))].sort(),
  ).toEqual(wanted.sort());
});

const cases = ROWS.flatMap((one) => [
  [one.operationId, one.field, one.kind, "token", one] as const,
  ...(contractOf(one.operationId).auth === "member"
    ? [[one.operationId, one.field, one.kind, "key", one] as const]
    : []),
]);

test.each(cases)(
  "%s with %s of a foreign %s by the %s of a stranger",
  async (_id, _field, kind, caller, one) => {
    const foreign = made.get(kind) ?? "";
    expect(foreign, "The other project's object was made.").toMatch(/^[a-z]+_[0-9a-f-]{36}$/);
    const answer = await answerOf(one, caller, foreign);
    expect(answer).toEqual(await answerOf(one, caller, newId(kind)));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    // Whatever else of the request is wrong would hide the id; a refusal of the request has to name
    // its field.
    expect(answer.text).toMatch(
      new RegExp(`^(?!.*"code":"invalid_request")|"path":"[^"]*\\b${one.field}"`),
    );
  },
);
