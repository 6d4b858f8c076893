import { createApiKey } from "@/lib/contracts/api-keys";
import type { BodyInput } from "@/lib/contracts/contract";
import { listPolicyVersions, putPolicy, updatePolicies } from "@/lib/contracts/policies";
import { listWallets } from "@/lib/contracts/wallets";
import type { TestSession } from "./api";
import { withApproval } from "./approve";

export type Votes = NonNullable<BodyInput<typeof updatePolicies>["approvals"]>;

interface World {
  readonly owner: TestSession;
}

const demandByPolicy = async (
  { owner }: World,
  votes: Votes,
  subject: { scope: "project" | "wallet" | "key"; subjectId?: string },
) => {
  const { data } = await owner.client.call(listPolicyVersions, { query: subject });
  const approvals = {
    aboveUsd: "0",
    count: votes.count,
    roles: votes.roles,
    excludeMaker: votes.excludeMaker ?? false,
  };
  const body = { ...subject, baseVersion: data[0]?.version ?? 0, rules: { approvals } };
  await withApproval(owner.account, (approval) =>
    owner.client.call(putPolicy, { body: { ...body, ...(approval ? { approval } : {}) } }),
  );
};

/**
 * Each place where a rule can demand votes: its name, and a function that sets the rule there. The
 * function returns the words for the place in the service's error.
 */
export const VOTE_PLACES: readonly (readonly [
  string,
  (it: World, votes: Votes) => Promise<string>,
])[] = [
  [
    "the setting",
    async ({ owner }, approvals) => {
      await withApproval(owner.account, (approval) =>
        owner.client.call(updatePolicies, {
          body: { approvals, ...(approval ? { approval } : {}) },
        }),
      );
      return "the setting of approvals";
    },
  ],
  [
    "the policy of the project",
    async (it, votes) => {
      await demandByPolicy(it, votes, { scope: "project" });
      return "the policy of the project";
    },
  ],
  [
    "the policy of a wallet",
    async (it, votes) => {
      const subjectId = (await it.owner.client.call(listWallets)).data[0]?.id ?? "";
      await demandByPolicy(it, votes, { scope: "wallet", subjectId });
      return subjectId;
    },
  ],
  [
    "the policy of an API key",
    async (it, votes) => {
      const { id: subjectId } = await it.owner.client.call(createApiKey, {
        body: { name: "CI" },
      });
      await demandByPolicy(it, votes, { scope: "key", subjectId });
      return subjectId;
    },
  ],
];
