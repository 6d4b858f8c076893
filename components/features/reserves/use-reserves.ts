import { apiQuery } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { getReserves } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Reserve = ResponseOf<typeof getReserves>["data"][number];

export const reservesQuery = apiQuery(getReserves, {});

export const useReserves = () => useLiveQuery(reservesQuery);
