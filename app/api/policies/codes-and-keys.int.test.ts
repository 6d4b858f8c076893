/** The code-free daily cap of a policy, and policies of single API keys. */
import { describe, expect, test } from "vitest";
import { approveOperation } from "@/lib/contracts/operations";
import { requestOtp } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { codesOf } from "@/lib/dev/testing/journey";
import { keepOneDay } from "@/lib/dev/testing/one-day";
import { putRules } from "@/lib/dev/testing/policies";

const api = await testApi();
const { prisma } = api.services.database;
keepOneDay(api.services.clock);

/** The person approves a waiting operation with a mailed code. */
const approve = async (of: FundedCustomer, operationId: string) => {
  const { client } = of.session;
  const seen = await codesOf(api, of);
  await client.call(requestOtp, { body: { operationId } });
  const otp = await api.readCode(of.email, seen);
  return client.call(approveOperation, { params: { id: operationId }, body: { otp } });
};

const storedOperation = (id: string) =>
  prisma.operation.findUniqueOrThrow({ where: { id }, include: { legs: true } });

describe("a policy that exempts 10 US dollars a day from codes", () => {
  /** The sum in US dollars that moved without a code today. */
  const withoutCode = async ({ projectId }: FundedCustomer): Promise<string[]> =>
    (await prisma.policyUsage.findMany({ where: { projectId, unit: "usd_without_code" } })).map(
      ({ spent }) => spent.toFixed(),
    );

  test("asks for a code above it, and counts only what moves without one", async () => {
    const of = await fundedCustomer(api);
    const rules = { code: { mode: "exempt" as const, dailyCapUsd: "10" } };
    await putRules(of.session, { scope: "project", baseVersion: 0, rules });
    expect((await sendUsdc(of, "6")).subStatus).toBe("prepared");
    expect(await withoutCode(of)).toEqual(["6"]);

    const second = await sendUsdc(of, "6");
    expect(second.subStatus).toBe("awaiting_approval");
    expect(await withoutCode(of)).toEqual(["6"]);
    expect((await approve(of, second.operationId)).subStatus).toBe("prepared");
    expect(await withoutCode(of)).toEqual(["6"]);

    expect((await sendUsdc(of, "4")).subStatus).toBe("prepared");
    expect(await withoutCode(of)).toEqual(["10"]);
    expect((await sendUsdc(of, "1")).subStatus).toBe("awaiting_approval");
  }, 120_000);
});

describe("a policy of one key", () => {
  const refusal = {
    status: 403,
    code: "policy_violation",
    body: { details: [{ path: "amount", code: "perOperation.usd" }] },
  };
  const putCap = (of: FundedCustomer, keyId: string) =>
    putRules(of.session, {
      ...{
        scope: "key",
        subjectId: keyId,
        baseVersion: 0,
        rules: { perOperation: { usd: "10" } },
      },
    });

  test("refuses what the key sends above it, and bounds no other key", async () => {
    const of = await fundedCustomer(api);
    const other = await api.createKey(of.session, { otp: "exempt", dailyCapUsd: "100000" });
    await putCap(of, of.keyId);
    await expect(sendUsdc(of, "20")).rejects.toMatchObject(refusal);
    expect((await sendUsdc(of, "10")).subStatus).toBe("prepared");
    expect((await sendUsdc({ ...of, client: other.client }, "20")).subStatus).toBe("prepared");
  }, 120_000);

  test("refuses what the key asked for when a person approves it later", async () => {
    const of = await fundedCustomer(api);
    const key = await api.createKey(of.session);
    const byKey = await sendUsdc({ ...of, client: key.client }, "20");
    const byPerson = await sendUsdc({ ...of, client: of.session.client }, "20");
    expect([byKey.subStatus, byPerson.subStatus]).toEqual([
      "awaiting_approval",
      "awaiting_approval",
    ]);
    await putCap(of, key.id);
    await expect(approve(of, byKey.operationId)).rejects.toMatchObject(refusal);
    expect(await storedOperation(byKey.operationId)).toMatchObject({
      evaluationId: null,
      legs: [],
    });
    expect((await approve(of, byPerson.operationId)).subStatus).toBe("prepared");
  }, 120_000);
});
