/** Nobody votes on what they asked for themselves, whichever credential they asked with. */
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { rotateApiKey } from "@/lib/contracts/api-keys";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import type { ApiClient } from "@/lib/api-client/client";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer, type FundedCustomer } from "@/lib/dev/testing/funded-customer";
import { putRules } from "@/lib/dev/testing/policies";
import {
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi();
let of: FundedCustomer;
let admin: TestMember;
let operator: TestMember;
const operatorKey = generatePrivateKey();

beforeAll(async () => {
  of = await fundedCustomer(api);
  admin = await newMember(api, of.projectId, "admin");
  operator = await newMember(
    { ...api, signIn: () => api.signIn(operatorKey) },
    of.projectId,
    "operator",
  );
  const approvals = {
    aboveUsd: "10",
    count: 1,
    roles: ["owner", "admin", "operator"] as const,
    excludeMaker: true,
  };
  await putRules(of.session, {
    ...{ scope: "project", baseVersion: 0 },
    rules: { approvals: { ...approvals, roles: [...approvals.roles] } },
  });
}, 120_000);

/** A movement that waits for one vote. */
const waiting = async (client: ApiClient) => {
  const at = {
    fromWalletId: of.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    fromToken: "USDC",
    toToken: "USDC",
  };
  const body = { ...at, amount: "20", recipient: testAccount().address };
  const { operationId, subStatus } = await client.call(swapAndTransfer, { body });
  expect(subStatus).toBe("awaiting_approval");
  return (await requestAbout(of.session.client, operationId)).id;
};

test("a person who rotated a key, and so has its secret, does not vote on what the key asks for, nor does its maker", async () => {
  const { secret } = await withApproval(admin.session.account, (approval) =>
    admin.client.call(rotateApiKey, {
      params: { id: of.keyId },
      body: { overlapSeconds: 3600, ...(approval ? { approval } : {}) },
    }),
  );
  const key = api.client({ "x-api-key": secret });
  for (const client of [key, of.client]) {
    const id = await waiting(client);
    for (const voter of [admin, { client: of.session.client, session: of.session }])
      expect(await refusalOf(vote(voter, id))).toMatchObject({
        status: 403,
        code: "forbidden",
      });
    expect((await vote(operator, id)).state).toBe("approved");
  }
});

test("the person who asked does not vote from another session", async () => {
  const id = await waiting(operator.client);
  const again = await api.signIn(operatorKey);
  const client = api.client({
    authorization: `Bearer ${again.accessToken}`,
    "x-project-id": of.projectId,
  });
  expect(await refusalOf(vote({ ...operator, client }, id))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect((await vote(admin, id)).state).toBe("approved");
});
