import { afterAll, expect, test } from "vitest";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import type { BodyInput } from "@/lib/contracts/contract";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { losePaid } from "@/lib/dev/testing/payout-doubts";
import {
  idOf,
  newPayer,
  pay,
  PAYOUT_CHAIN,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";

const { rpcUrls } = await testDevnet();
const url = rpcUrls[String(PAYOUT_CHAIN)] ?? "";
const providers = await Promise.all([startFaultProxy(url), startFaultProxy(url)]);
const RPC_URL = providers.map((provider) => provider.url).join(",");
const api = await testApi({ variables: { [`RPC_URL_${String(PAYOUT_CHAIN)}`]: RPC_URL } });
afterAll(() => Promise.all(providers.map((provider) => provider.close())));

/** A node that keeps no logs of the time in question. */
const WITHOUT_LOGS = {
  methods: ["eth_getLogs"],
  fault: { kind: "lag", blocks: 1_000_000 },
} as const;

const doubtful = async () => {
  const { key, person, customer } = await newPayer(api, "10");
  const id = idOf(await pay(key, [row(someone(), "4")]));
  await losePaid(api.services, id);
  const decide = (body: BodyInput<typeof decidePayoutDoubt>) =>
    person.call(decidePayoutDoubt, { params: { id }, body });
  const state = (decision: "paid" | "not_paid") =>
    withApproval(customer.session.account, (approval) =>
      decide({ batch: 0, decision, reason: "Explorer", ...(approval ? { approval } : {}) }),
    );
  return { id, person, decide, state };
};

test.each([0, 1])(
  "the chain decides nothing while provider %i shows no payment, nor does a person against the other one",
  async (position) => {
    const { id, person, decide, state } = await doubtful();
    const fault = providers[position]?.on(WITHOUT_LOGS);
    try {
      expect(await refusal(decide({ batch: 0, decision: "by_chain" }))).toMatchObject({
        code: "chain_unavailable",
        message: expect.stringContaining("do not agree about this part") as string,
      });
      expect(await refusal(state("not_paid"))).toMatchObject({
        code: "invalid_state",
        message: expect.stringContaining(
          "One provider of the chain proves something else",
        ) as string,
      });
      expect(fault?.hits).toBeGreaterThan(0);
      expect(await read(person, id)).toMatchObject({
        status: "failed",
        doubts: [{ batch: 0, rows: 1 }],
      });
      // The statement that the other provider proves may be made.
      expect(await state("paid")).toMatchObject({ status: "completed", doubts: [] });
    } finally {
      fault?.off();
    }
  },
);

test("too few providers that answer decide nothing; two that agree do", async () => {
  const { id, person, decide, state } = await doubtful();
  const fault = providers[1].on({
    methods: ["eth_getLogs"],
    fault: { kind: "status", status: 500 },
  });
  for (const attempt of [() => decide({ batch: 0, decision: "by_chain" }), () => state("paid")])
    expect(await refusal(attempt())).toMatchObject({ code: "chain_unavailable" });
  fault.off();
  expect(await read(person, id)).toMatchObject({ status: "failed", doubts: [{ batch: 0 }] });
  expect(await refusal(state("paid"))).toMatchObject({ code: "invalid_state" });
  expect(await decide({ batch: 0, decision: "by_chain" })).toMatchObject({
    status: "completed",
    items: { paid: 1 },
  });
});
