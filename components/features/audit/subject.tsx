"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { shorten } from "@/components/ui/address";
import { CopyButton } from "@/components/ui/copy-button";
import { useHideableText } from "@/components/ui/hideable-text";
import { subjectView } from "./subject-words";

interface SubjectProps {
  readonly id: string;
  /** Null where the object has no name. */
  readonly name: string | null;
}

/** The object of an entry by its name or title, else by its kind, with a link to its page; the id is one click away. */
export const Subject = ({ id, name }: SubjectProps): ReactNode => {
  const { word, href } = subjectView(id);
  const hideable = useHideableText();
  const text = name === null ? word : name.startsWith("0x") ? shorten(name) : hideable(name);
  return (
    <span className="inline-flex max-w-72 min-w-0 items-center @max-[40rem]:max-w-full gap-1.5 align-middle" title={id}>
      {href === null ? (
        <span className="truncate">{text}</span>
      ) : (
        <Link href={href} className="link truncate">
          {text}
        </Link>
      )}
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};
