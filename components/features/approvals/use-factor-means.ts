"use client";

import { useApiQuery } from "@/components/features/session/use-api";
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

/**
 * The second factors that the person has set up, to choose from; none while they are read.
 * @param takesRecovery whether a recovery code is accepted in place of the app's code
 */
export const useFactorMeans = ({ takesRecovery }: { readonly takesRecovery: boolean }): readonly MeansOption[] => {
  const factors = useApiQuery(getFactors, {});
  const passkeys = useApiQuery(listPasskeys, {});
  const hasPasskey = (passkeys.data?.data.length ?? 0) > 0;
  const hasApp = factors.data !== undefined && factors.data.totp !== null;
  const description = `The code that your app shows now${takesRecovery ? ", or a recovery code" : ""}.`;
  return [...(hasPasskey ? [PASSKEY] : []), ...(hasApp ? [{ ...APP, description }] : [])];
};
