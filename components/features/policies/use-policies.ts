"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { getPolicies } from "@/lib/contracts/policies";

export type Policies = ResponseOf<typeof getPolicies>;

/** The limits of the project's API keys. */
export const usePolicies = (): UseQueryResult<Policies> => useApiQuery(getPolicies, {});
