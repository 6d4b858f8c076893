import type { ResponseOf } from "@/lib/contracts/contract";
import type { getPolicies } from "@/lib/contracts/policies";
import type { ProjectPolicy } from "./project-policy";

export const toPolicies = ({
  dailyCapUsd,
  spentTodayUsd,
  approvals,
}: ProjectPolicy): ResponseOf<typeof getPolicies> => ({
  dailyCapUsd,
  spentTodayUsd,
  approvals: approvals === null ? null : { ...approvals, roles: [...approvals.roles] },
});
