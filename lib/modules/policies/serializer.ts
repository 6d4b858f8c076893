import type { ResponseOf } from "@/lib/contracts/contract";
import type { getPolicies } from "@/lib/contracts/policies";
import type { ProjectPolicy } from "./project-policy";

export const toPolicies = ({ dailyCapUsd, spentTodayUsd }: ProjectPolicy): ResponseOf<typeof getPolicies> => ({
  dailyCapUsd,
  spentTodayUsd,
});
