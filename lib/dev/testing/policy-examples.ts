import type { exampleRecorder } from "./example-recorder";
import { testAccount } from "./factories";

type Body = Record<string, unknown>;
type Headers = Readonly<Record<string, string>>;

interface Examples {
  readonly call: ReturnType<typeof exampleRecorder>["call"];
  /** Calls a route that needs an approval, and approves it. */
  readonly approved: (operationId: string, body: object, params?: Headers) => Promise<Body>;
  readonly as: Headers;
  readonly customer: { readonly treasuryId: string; readonly treasury: string };
  readonly chainId: number;
}

/** Calls each route of policies once, and the route that approves a contact. */
export const callPolicies = async ({
  call,
  approved,
  as,
  customer,
  chainId,
}: Examples): Promise<void> => {
  await call("getPolicies", { as });
  await approved("updatePolicies", { dailyCapUsd: "2000" });
  await approved("putPolicy", {
    scope: "project",
    baseVersion: 0,
    rules: { perOperation: { usd: "1000000" } },
  });
  await call("listPolicyVersions", { query: { scope: "project" }, as });
  const { treasuryId: fromWalletId, treasury: recipient } = customer;
  await call("evaluatePolicies", {
    body: {
      fromWalletId,
      fromChainId: chainId,
      toAddress: recipient,
      token: "USDC",
      amount: "25",
    },
    as,
  });
  const contact = { name: "Grace", address: testAccount().address };
  const { id } = await call("createContact", { body: contact, as, recorded: false });
  await approved("approveContact", {}, { id: String(id) });
  const contacts = [{ name: "Linus", address: testAccount().address, tags: ["Payroll"] }];
  const { data } = await call("importContacts", { body: { contacts }, as });
  const ids = (data as readonly { readonly id: string }[]).map((contact) => contact.id);
  await approved("approveContacts", { ids });
};
