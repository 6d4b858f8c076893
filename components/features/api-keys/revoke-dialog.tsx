"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { listApiKeys, revokeApiKey } from "@/lib/api-client/calls.gen";
import type { ApiKey } from "./api-key";

interface RevokeDialogProps {
  readonly apiKey: ApiKey | null;
  readonly onClose: () => void;
}

export const RevokeDialog = ({ apiKey, onClose }: RevokeDialogProps): ReactNode => {
  const revoke = useApiMutation(revokeApiKey);
  const queryClient = useQueryClient();
  if (apiKey === null) return null;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (open) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke “${apiKey.name}”?`}
      description={
        <div className="flex flex-col gap-2">
          <p>
            Programs that use <code className="font-mono text-sm">{`${apiKey.prefix}…${apiKey.last4}`}</code> are
            refused within a second. This cannot be undone. Operations that run go on.
          </p>
          {revoke.isError ? <ErrorState compact error={revoke.error} money="The key still works." /> : null}
        </div>
      }
      confirmLabel="Revoke key"
      onConfirm={async () => {
        await revoke.mutateAsync({ params: { id: apiKey.id } });
        toast.success(`The key “${apiKey.name}” is revoked.`);
        await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
      }}
    />
  );
};
