"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import { listOperations } from "@/lib/api-client/calls.gen";

export type OperationsPage = ResponseOf<typeof listOperations>;
export type Operation = OperationsPage["data"][number];

/** Without private operations, which only the private page shows. */
export const useOperations = (query: QueryInput<typeof listOperations>): UseQueryResult<OperationsPage> =>
  useApiQuery(listOperations, { query: { ...query, private: "exclude" } }, { live: true });
