import { listAuditLog } from "@/lib/contracts/audit";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { putPolicy } from "@/lib/contracts/policies";
import type { TestSession } from "./api";
import { withApproval } from "./approve";

export type PolicyInput = Omit<BodyInput<typeof putPolicy>, "approval">;

/** Stores the next version of a policy, approved with the person's signature. */
export const putRules = (
  { account, client }: Pick<TestSession, "account" | "client">,
  input: PolicyInput,
): Promise<ResponseOf<typeof putPolicy>> =>
  withApproval(account, (approval) =>
    client.call(putPolicy, { body: { ...input, ...(approval ? { approval } : {}) } }),
  );

/** The newest entries of one action. */
export const getAuditLog = async (
  { client }: Pick<TestSession, "client">,
  action: string,
): Promise<ResponseOf<typeof listAuditLog>["data"]> =>
  (await client.call(listAuditLog, { query: { action, limit: 20 } })).data;
