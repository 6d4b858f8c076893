"use client";

import type { ReactNode } from "react";
import { PublicId } from "@/components/ui/address";
import { Fact, Facts } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { Dialog } from "@/components/ui/dialog";
import { useHideableJson } from "@/components/ui/hideable-text";
import { Time } from "@/components/ui/time";
import type { listAuditLog } from "@/lib/contracts/audit";
import type { ResponseOf } from "@/lib/contracts/contract";
import { countText } from "@/lib/core/amount-text";
import { actionWords } from "./action-words";
import { ActorName } from "./actor-name";
import { Subject } from "./subject";

export type Entry = ResponseOf<typeof listAuditLog>["data"][number];

interface EntryDialogProps {
  readonly entry: Entry;
  readonly actorName: string;
  readonly onClose: () => void;
}

/** One entry of the audit log, with its place in the chain. */
export const EntryDialog = ({ entry, actorName, onClose }: EntryDialogProps): ReactNode => {
  const hideable = useHideableJson();
  return (
    <Dialog open onOpenChange={onClose} title={actionWords(entry.action)} size="lg">
      <div className="flex flex-col gap-4">
        <Facts>
          <Fact label="Who">
            <ActorName id={entry.actor} name={actorName} />
          </Fact>
          <Fact label="When">
            <Time value={entry.createdAt} absolute />
          </Fact>
          <Fact label="On what">
            {entry.subject === null ? "–" : <Subject id={entry.subject} name={entry.subjectName} />}
          </Fact>
          <Fact label="From">{entry.clientAddress ?? "Not known"}</Fact>
          <Fact label="Request">{entry.requestId === null ? "None" : <PublicId value={entry.requestId} />}</Fact>
          <Fact label="Chain">
            {entry.seq === null ? "Not linked yet; this takes a second" : `Link ${countText(entry.seq)}`}
          </Fact>
          {entry.hash === null ? null : (
            <Fact label="Hash">
              <PublicId value={entry.hash} />
            </Fact>
          )}
        </Facts>
        <CodeBlock wrap label="details of the entry" code={hideable(JSON.stringify(entry.data, null, 2))} />
      </div>
    </Dialog>
  );
};
