"use client";

import { useConnectModal } from "@rainbow-me/rainbowkit";
import { Flame, KeyRound, Wallet } from "lucide-react";
import { signIn, signOut } from "next-auth/react";
import { type ReactNode, useEffect, useState } from "react";
import { useAccount, useConnect } from "wagmi";
import { BURNER_ID } from "@/components/features/burner/connector";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { useApiMutation } from "@/components/features/session/use-api";
import { PublicPage } from "@/components/layout/public-page";
import { usePublicConfig } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { LoadingRows } from "@/components/ui/states";
import { Steps } from "@/components/ui/timeline";
import { startPasskeySignIn } from "@/lib/api-client/calls.gen";
import { LiveChains } from "./live-chains";
import { SignMessage } from "./sign-message";

interface SignInProps {
  /** Path to go to afterwards; already checked by `safePath`. */
  readonly from: string;
  /** Whether the service no longer accepts the session, which then ends before a new one begins. */
  readonly again: boolean;
}

export const SignIn = ({ from, again }: SignInProps): ReactNode => {
  const { address, status } = useAccount();
  const [live, setLive] = useState(false);
  useEffect(() => {
    setLive(true);
    if (again) void signOut({ redirect: false });
  }, [again]);
  const connected = live && status === "connected";
  const stepOf = (): ReactNode => {
    if (!live || status === "reconnecting") return <LoadingRows rows={2} what="wallets" />;
    if (status !== "connected") return <ChooseWallet />;
    return <SignMessage key={address} address={address} from={from} />;
  };
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
            current={connected ? 1 : 0}
          />
          <div className="rounded-card border bg-surface p-4">{stepOf()}</div>
          {live && !connected ? <PasskeySignIn from={from} /> : null}
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

/**
 * A wallet of the browser through RainbowKit, or, with local chains, the app's own burner wallet.
 */
const ChooseWallet = (): ReactNode => {
  const { devnet } = usePublicConfig();
  const { openConnectModal } = useConnectModal();
  const { connect, connectors, error, isPending } = useConnect();
  useDecorativeWalletIcons();
  const burner = connectors.find((connector) => connector.id === BURNER_ID);
  return (
    <div className="flex flex-col gap-4">
      <Button
        variant="primary"
        size="lg"
        onClick={() => openConnectModal?.()}
        disabled={openConnectModal === undefined}
      >
        <Wallet aria-hidden /> Connect a wallet
      </Button>
      {devnet && burner !== undefined ? (
        <div className="flex flex-col gap-2 border-t pt-4">
          <Button size="lg" loading={isPending} onClick={() => connect({ connector: burner })}>
            <Flame aria-hidden /> Use the burner wallet
          </Button>
          <p className="text-sm text-fg-2">
            Burner wallet – development only. A key made in this browser, without an extension.
            It works on the local chains alone; never send real money to it.
          </p>
        </div>
      ) : null}
      {error === null ? null : (
        <Alert tone="danger" title="The wallet was not connected">
          {error.message.split("\n")[0]} Nothing was signed. Try again, or choose another
          wallet.
        </Alert>
      )}
    </div>
  );
};

const REFUSED =
  "The service did not accept this passkey. It may have been removed. Sign in with your wallet.";

/** Signs in by a passkey, which the person added after a sign-in by wallet. */
const PasskeySignIn = ({ from }: { readonly from: string }): ReactNode => {
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

const UNNAMED_ICONS = "[data-rk] [role=img]:not([aria-label])";

/**
 * RainbowKit gives its wallet icons the role of an image, but no name. Each icon is beside the
 * wallet's name, so it is decorative and is marked as such when the dialog appears.
 */
const useDecorativeWalletIcons = (): void => {
  useEffect(() => {
    const mark = (): void => {
      for (const icon of document.querySelectorAll(UNNAMED_ICONS))
        icon.setAttribute("role", "presentation");
    };
    const observer = new MutationObserver(mark);
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["role"],
    });
    mark();
    return () => observer.disconnect();
  }, []);
};
