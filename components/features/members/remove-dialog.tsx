"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { chooseProject } from "@/components/features/projects/chosen-project";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { shorten } from "@/components/ui/address";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { listMembers, removeMember } from "@/lib/api-client/calls.gen";
import type { Member } from "./roles";

interface RemoveDialogProps {
  readonly member: Member | null;
  /** Whether the member is the person who looks at the page. */
  readonly isMe: boolean;
  readonly onClose: () => void;
}

export const RemoveDialog = ({ member, isMe, onClose }: RemoveDialogProps): ReactNode => {
  const remove = useApiMutation(removeMember);
  const queryClient = useQueryClient();
  if (member === null) return null;
  const name = member.email ?? shorten(member.address);
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      title={isMe ? "Leave the project?" : `Remove ${name}?`}
      description={
        <div className="flex flex-col gap-2">
          <p>
            {isMe ? "You have" : "The person has"} no access after a second. API keys of the project that{" "}
            {isMe ? "you" : "the person"} made or rotated last are revoked. Operations that run go on.
          </p>
          {remove.isError ? <ErrorState compact error={remove.error} money="Nobody was removed." /> : null}
        </div>
      }
      confirmLabel={isMe ? "Leave project" : "Remove member"}
      onConfirm={async () => {
        await remove.mutateAsync({ params: { id: member.userId } });
        if (isMe) {
          chooseProject(null);
          return;
        }
        toast.success(`${name} is not a member any more.`);
        await queryClient.invalidateQueries({ queryKey: queryKeyOf(listMembers) });
      }}
    />
  );
};
