"use client";

import { KeyRound } from "lucide-react";
import { signIn } from "next-auth/react";
import { useState, type ReactNode } from "react";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { startPasskeySignIn } from "@/lib/api-client/calls.gen";

const REFUSED = "The service did not accept this passkey. It may have been removed. Sign in with your wallet.";

/** Signs in by a passkey, which the person added after a sign-in by wallet. */
export const PasskeySignIn = ({ from }: { readonly from: string }): ReactNode => {
  const ask = useApiMutation(startPasskeySignIn);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const enter = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const { options } = await ask.mutateAsync({});
      const credential = JSON.stringify(await signByPasskey(options));
      const answer = await signIn("passkey", { credential, redirect: false });
      if (answer?.ok === true) window.location.assign(from);
      else setProblem(REFUSED);
    } catch (error) {
      setProblem(passkeyProblem(error) ?? "The service did not answer. Try again.");
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <Button size="lg" loading={busy} onClick={() => void enter()}>
        <KeyRound aria-hidden /> Sign in with a passkey
      </Button>
      {problem === null ? null : (
        <Alert tone="warning" title="You are not signed in">
          {problem}
        </Alert>
      )}
    </div>
  );
};
