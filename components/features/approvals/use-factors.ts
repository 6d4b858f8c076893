"use client";

import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { getFactors, listPasskeys } from "@/lib/api-client/calls.gen";

interface Factors {
  /** False while the factors load. A factor that could not be read counts as missing. */
  readonly isKnown: boolean;
  readonly hasPasskey: boolean;
  readonly hasApp: boolean;
}

/** The second factors that the person has set up. */
export const useFactors = (): Factors => {
  const factors = useQuery(apiQuery(getFactors, {}));
  const passkeys = useQuery(apiQuery(listPasskeys, {}));
  return {
    isKnown: !factors.isPending && !passkeys.isPending,
    hasPasskey: (passkeys.data?.data.length ?? 0) > 0,
    hasApp: factors.data !== undefined && factors.data.totp !== null,
  };
};
