"use client";

import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { getFactors, listPasskeys } from "@/lib/api-client/calls.gen";

interface MeansOption {
  readonly value: "passkey" | "app" | "code" | "wallet";
  readonly label: string;
  readonly description: string;
}

export const CODE_MEANS: MeansOption = {
  value: "code",
  label: "Code by e-mail",
  description: "A code of six digits goes to your verified address.",
};

const APP: Omit<MeansOption, "description"> = { value: "app", label: "Authenticator app" };

const PASSKEY: MeansOption = {
  value: "passkey",
  label: "Passkey",
  description: "This device asks for your fingerprint or its PIN.",
};

interface Factors {
  /** False while they load. A factor that could not be read counts as missing. */
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

/**
 * Options for the second factors that the person has set up; empty while they load.
 * @param takesRecovery whether a recovery code is accepted in place of the app's code
 */
export const useFactorMeans = ({
  takesRecovery,
}: {
  readonly takesRecovery: boolean;
}): readonly MeansOption[] => {
  const { hasPasskey, hasApp } = useFactors();
  const description = `The code that your app shows now${takesRecovery ? ", or a recovery code" : ""}.`;
  return [...(hasPasskey ? [PASSKEY] : []), ...(hasApp ? [{ ...APP, description }] : [])];
};
