"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { getReserves } from "@/lib/api-client/calls.gen";

type Reserves = ResponseOf<typeof getReserves>;
export type Reserve = Reserves["data"][number];

export const useReserves = (): UseQueryResult<Reserves> => useApiQuery(getReserves, {}, { live: true });
