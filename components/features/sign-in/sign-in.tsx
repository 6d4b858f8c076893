"use client";

import { KeyRound } from "lucide-react";
import { signIn, signOut } from "next-auth/react";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { useApiMutation } from "@/components/features/session/use-api";
import { PublicPage } from "@/components/layout/public-page";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Steps } from "@/components/ui/timeline";
import { startPasskeySignIn } from "@/lib/api-client/calls.gen";
import { ChooseWallet, type WalletChoice } from "./choose-wallet";
import { LiveChains } from "./live-chains";

const WalletSteps = lazy(() =>
  import("./wallet-steps").then((module) => ({ default: module.WalletSteps })),
);

interface SignInProps {
  /** Path to go to afterwards; already checked by `safePath`. */
  readonly from: string;
  /**
   * Whether the service no longer accepts the current session. That session ends before a new one
   * begins.
   */
  readonly again: boolean;
}

export const SignIn = ({ from, again }: SignInProps): ReactNode => {
  const [live, setLive] = useState(false);
  const [choice, setChoice] = useState<WalletChoice | null>(null);
  const [isConnected, setIsConnected] = useState(false);
  useEffect(() => {
    setLive(true);
    if (again) void signOut({ redirect: false });
  }, [again]);
  const choosing = (
    <ChooseWallet onChoose={setChoice} disabled={!live} pending={choice} problem={null} />
  );
  return (
    <PublicPage>
      <main className="mx-auto grid w-full max-w-5xl flex-1 grid-cols-1 content-start gap-x-16 gap-y-8 px-4 pt-[4vh] pb-12 md:px-8 lg:grid-cols-2 lg:pt-[10vh]">
        <div className="flex min-w-0 flex-col gap-4">
          <div>
            <h1 className="text-3xl font-semibold">Sign in</h1>
            <p className="text-fg-2">
              Your wallet is your account. Signing a message proves that it is yours; it costs
              nothing.
            </p>
          </div>
          <Steps
            label="Steps to sign in"
            steps={["Choose a wallet", "Read and sign the message"]}
            current={isConnected ? 1 : 0}
          />
          <div className="rounded-card border bg-surface p-4">
            {choice === null ? (
              choosing
            ) : (
              <Suspense fallback={choosing}>
                <WalletSteps choice={choice} from={from} onConnected={setIsConnected} />
              </Suspense>
            )}
          </div>
          {isConnected ? null : <PasskeySignIn from={from} disabled={!live} />}
        </div>
        <div className="flex min-w-0 flex-col gap-6 max-lg:order-last lg:order-first">
          <p className="text-xl font-medium text-balance lg:text-2xl">
            Wallets on many chains, and one way to move money over them: swap, pay and keep the
            books from one place.
          </p>
          <LiveChains />
        </div>
      </main>
    </PublicPage>
  );
};

const REFUSED =
  "The service did not accept this passkey. It may have been removed. Sign in with your wallet.";

/** Signs in by a passkey, which the person added after a sign-in by wallet. */
const PasskeySignIn = ({
  from,
  disabled,
}: {
  readonly from: string;
  readonly disabled: boolean;
}): ReactNode => {
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
      <Button size="lg" loading={busy} disabled={disabled} onClick={() => void enter()}>
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
