"use client";

import { signOut } from "next-auth/react";
import { useEffect, useState, type ReactNode } from "react";
import { useAccount } from "wagmi";
import { Wordmark } from "@/components/layout/logo";
import { ThemeSwitch } from "@/components/layout/theme-switch";
import { LoadingRows } from "@/components/ui/skeleton";
import { Steps } from "@/components/ui/timeline";
import { ChooseWallet } from "./choose-wallet";
import { LiveChains } from "./live-chains";
import { PasskeySignIn } from "./passkey-sign-in";
import { SignMessage } from "./sign-message";

interface SignInProps {
  /** Path to go to afterwards; already checked by `safePath`. */
  readonly from: string;
  /** The session is no longer accepted: end it before a new one begins. */
  readonly again: boolean;
}

/** Connect a wallet, read the message, sign it. */
export const SignIn = ({ from, again }: SignInProps): ReactNode => {
  const { address, status } = useAccount();
  const [live, setLive] = useState(false);
  useEffect(() => {
    setLive(true);
    if (again) void signOut({ redirect: false });
  }, [again]);
  const connected = live && status === "connected";
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between px-4 py-3 md:px-8">
        <Wordmark />
        <ThemeSwitch />
      </header>
      <main className="mx-auto grid w-full max-w-5xl flex-1 grid-cols-1 content-start gap-x-16 gap-y-8 px-4 pt-[4vh] pb-12 md:px-8 lg:grid-cols-2 lg:pt-[10vh]">
        <div className="flex min-w-0 flex-col gap-4">
          <div>
            <h1 className="text-3xl font-semibold">Sign in</h1>
            <p className="text-fg-2">
              Your wallet is your account. Signing a message proves that it is yours; it costs nothing.
            </p>
          </div>
          <Steps
            label="Steps to sign in"
            steps={["Choose a wallet", "Read and sign the message"]}
            current={connected ? 1 : 0}
          />
          <div className="rounded-card border bg-surface p-4">
            {!live || status === "reconnecting" ? (
              <LoadingRows rows={2} what="wallets" />
            ) : connected ? (
              <SignMessage key={address} address={address} from={from} />
            ) : (
              <ChooseWallet />
            )}
          </div>
          {live && !connected ? <PasskeySignIn from={from} /> : null}
        </div>
        <div className="flex min-w-0 flex-col gap-6 max-lg:order-last lg:order-first">
          <p className="text-xl font-medium text-balance lg:text-2xl">
            Wallets on many chains, and one way to move money over them: swap, pay and keep the books from one place.
          </p>
          <LiveChains />
        </div>
      </main>
    </div>
  );
};
