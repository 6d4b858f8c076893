"use client";

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Address as EvmAddress } from "viem";
import { useAccount, useDisconnect, useSignMessage } from "wagmi";
import { useApi } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { createNonce } from "@/lib/api-client/calls.gen";
import { signInMessage, verifySignature } from "./authentication";

interface SignMessageProps {
  readonly address: EvmAddress;
  readonly from: string;
}

/** A fresh message for this wallet; a nonce is good for one signature. */
const useSignInMessage = (address: EvmAddress) => {
  const api = useApi();
  const { chains } = usePublicConfig();
  const { chainId } = useAccount();
  // Wallets may be on a chain that the service does not know; the message then names the first that it does.
  const chain = chains.find((known) => known.id === chainId) ?? chains[0];
  return useQuery({
    queryKey: ["sign-in-message", address, chain?.id],
    queryFn: async ({ signal }) => {
      const nonce = await api.call(createNonce, { body: { address }, signal });
      return signInMessage({ nonce, address, chainId: chain?.id ?? 1, issuedAt: new Date() });
    },
    staleTime: Infinity,
    gcTime: 0,
  });
};

export const SignMessage = ({ address, from }: SignMessageProps): ReactNode => {
  const message = useSignInMessage(address);
  const { connector } = useAccount();
  const { disconnect } = useDisconnect();
  const { signMessageAsync } = useSignMessage();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const run = async (text: string): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const signature = await signMessageAsync({ message: text });
      const refusal = await verifySignature(text, signature);
      if (refusal === null) {
        window.location.assign(from);
        return;
      }
      setProblem(refusal);
    } catch {
      setProblem("The wallet did not sign the message. You are not signed in.");
    }
    setBusy(false);
    void message.refetch();
  };

  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Address name={connector?.name} value={address} />
        <Button size="sm" variant="ghost" onClick={() => disconnect()} disabled={busy}>
          Use another wallet
        </Button>
      </div>
      {message.isPending ? <LoadingRows rows={4} what="the message" /> : null}
      {message.isError ? <ErrorState compact error={message.error} onRetry={() => void message.refetch()} /> : null}
      {message.data === undefined ? null : (
        <>
          <p className="text-fg-2">
            This is what you sign, word for word. It moves no money and gives nobody permission to move any.
          </p>
          <pre
            tabIndex={0}
            role="region"
            aria-label="Message to sign"
            className="max-h-80 overflow-auto rounded-card border bg-sunken p-3 font-mono text-sm break-words whitespace-pre-wrap"
          >
            {message.data}
          </pre>
          <Button variant="primary" size="lg" loading={busy} onClick={() => void run(message.data)}>
            {busy ? "Waiting for the signature …" : "Sign in"}
          </Button>
        </>
      )}
      {problem === null ? null : <Alert tone="danger">{problem}</Alert>}
    </div>
  );
};
