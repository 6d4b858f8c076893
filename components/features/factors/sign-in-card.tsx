"use client";

import type { ReactNode } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { getFactors, listPasskeys } from "@/lib/api-client/calls.gen";
import { Authenticator } from "./authenticator";
import { Passkeys } from "./passkeys";

/** The person's passkeys and authenticator app: means to sign in and approve beside the wallet and mailed codes. */
export const SignInCard = (): ReactNode => {
  const factors = useApiQuery(getFactors, {});
  const passkeys = useApiQuery(listPasskeys, {});
  const failed = factors.error ?? passkeys.error;
  return (
    <Card
      id="sign-in"
      title="Sign-in and approval"
      description="Your wallet and mailed codes always work. A passkey or an authenticator app is quicker."
      flush
    >
      {factors.data !== undefined && passkeys.data !== undefined ? (
        <div className="divide-y">
          <Passkeys passkeys={passkeys.data.data} />
          <Authenticator factors={factors.data} />
        </div>
      ) : failed === null ? (
        <LoadingRows what="your passkeys" rows={3} />
      ) : (
        <ErrorState
          error={failed}
          onRetry={() => {
            void factors.refetch();
            void passkeys.refetch();
          }}
        />
      )}
    </Card>
  );
};
