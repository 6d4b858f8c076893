import type { z } from "zod";
import { apiQuery } from "@/components/features/session/api-query";
import { getOperation, listOperations } from "@/lib/api-client/calls.gen";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import type { operationEvent, operationRecord } from "@/lib/contracts/operation-records";

export type Operation = z.output<typeof operationRecord>;
export type OperationEvent = z.output<typeof operationEvent>;
export type Leg = Operation["legs"][number];
export type ListedOperation = ResponseOf<typeof listOperations>["data"][number];
export type ChainNameOf = (chainId: number) => string;

export const operationQuery = (id: string) => apiQuery(getOperation, { params: { id } });

/**
 * Operations, newest first. Excludes private operations, which only the page for private money
 * shows.
 */
const operationsQuery = (query: QueryInput<typeof listOperations>) =>
  apiQuery(listOperations, { query: { ...query, private: "exclude" } });

/** The API's limit of operations per answer. */
const LISTED_MAX = 100;
const LATEST = 5;

export const newestOperationsQuery = operationsQuery({ limit: LISTED_MAX });
export const movingOperationsQuery = operationsQuery({
  status: "processing",
  limit: LISTED_MAX,
});
export const latestOperationsQuery = operationsQuery({ limit: LATEST });
/** Reads at most one completed swap, to find out whether the project has any. */
export const completedSwapQuery = operationsQuery({
  status: "completed",
  kind: "swap,swap_and_transfer",
  limit: 1,
});
