"use client";

import { useState, type ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import type { Address as EvmAddress } from "viem";
import { useAccount, useDisconnect, useSignMessage } from "wagmi";
import { useApi } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { MessageText } from "@/components/ui/code-block";
import { Button } from "@/components/ui/button";
import { QueryContent } from "@/components/ui/states";
import { createNonce } from "@/lib/api-client/calls.gen";
import { signInMessage, verifySignature } from "./authentication";

interface SignMessageProps {
  readonly address: EvmAddress;
  readonly from: string;
}

/** A fresh sign-in message for this wallet; its nonce is valid for one signature. */
const useSignInMessage = (address: EvmAddress) => {
  const api = useApi();
  const { chains } = usePublicConfig();
  const { chainId } = useAccount();
  // The wallet may be on a chain that the service does not know. The message then names the first
  // known chain.
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
      <QueryContent query={message} what="the message" compact>
        {(text) => (
          <>
            <p className="text-fg-2">
              This is what you sign, word for word. It moves no money and gives nobody
              permission to move any.
            </p>
            <MessageText label="Message to sign">{text}</MessageText>
            <Button variant="primary" size="lg" loading={busy} onClick={() => void run(text)}>
              {busy ? "Waiting for the signature …" : "Sign in"}
            </Button>
          </>
        )}
      </QueryContent>
      {problem === null ? null : <Alert tone="danger">{problem}</Alert>}
    </div>
  );
};
