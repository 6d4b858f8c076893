import { beforeAll, expect, test } from "vitest";
import type { Address } from "viem";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { putRules } from "@/lib/dev/testing/policies";

const HOUR_MS = 3_600_000;
const api = await testApi();
const { prisma } = api.services.database;
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * HOUR_MS);

let of: FundedCustomer;
const paidBefore = testAccount().address;
beforeAll(async () => {
  of = await fundedCustomer(api);
  await sendUsdc(of, "1", paidBefore);
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { newRecipientHours: 24 },
  });
}, 120_000);

const expectRefused = async (recipient: Address, message: string): Promise<void> => {
  await expect(sendUsdc(of, "1", recipient)).rejects.toMatchObject({
    status: 403,
    code: "policy_violation",
    message: expect.stringContaining(message) as unknown,
    body: { details: [{ path: "recipient", code: "newRecipientHours" }] },
  });
};

const paidFirst = (address: Address) => ({
  projectId: of.projectId,
  address: address.toLowerCase(),
});

test("an unknown address is refused, and a refused payment does not make it known", async () => {
  const recipient = testAccount().address;
  await expectRefused(recipient, `${recipient} is new.`);
  await expectRefused(recipient, `${recipient} is new.`);
  expect(await prisma.policyRecipient.count({ where: paidFirst(recipient) })).toBe(0);
  expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(1);
});

test("a contact is paid only once its approval is 24 hours old", async () => {
  const { address } = testAccount();
  const { id } = await of.session.client.call(createContact, {
    body: { name: "Ada", address },
  });
  await expectRefused(address, "24 hours after its contact was approved");
  await withApproval(of.session.account, (approval) =>
    of.session.client.call(approveContact, {
      params: { id },
      body: approval ? { approval } : {},
    }),
  );
  await expectRefused(address, "It may be paid from");
  await prisma.contact.update({ where: { id }, data: { approvedAt: hoursAgo(23) } });
  await expectRefused(address, "It may be paid from");
  await prisma.contact.update({ where: { id }, data: { approvedAt: hoursAgo(25) } });
  expect((await sendUsdc(of, "1", address)).subStatus).toBe("prepared");
});

test("an address that was paid before is paid again once its first payment is 24 hours old", async () => {
  await expectRefused(paidBefore, "It may be paid from");
  const { projectId, address } = paidFirst(paidBefore);
  const rows = await asOwner(
    api.services.config.databaseUrl,
    "UPDATE policy_recipient SET first_paid_at = $3 WHERE project_id = $1 AND address = $2 RETURNING address",
    [projectId, address, hoursAgo(25)],
  );
  expect(rows).toHaveLength(1);
  expect((await sendUsdc(of, "1", paidBefore)).subStatus).toBe("prepared");
});
