"use client";

import { FileUp } from "lucide-react";
import { useState, type DragEvent, type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { buttonLooks } from "@/components/ui/button-looks";

const ACCEPTED =
  ".csv,.tsv,.txt,.xlsx,text/csv,text/plain,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** A file input that looks like a button; choosing the same file again reads it again. */
export const FileButton = ({
  onFile,
  label,
  primary = false,
}: {
  readonly onFile: (file: File) => void;
  readonly label: string;
  readonly primary?: boolean;
}): ReactNode => (
  <label
    className={cn(
      buttonLooks(primary ? { variant: "primary" } : { size: "sm" }),
      "cursor-pointer focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent",
    )}
  >
    <FileUp aria-hidden /> {label}
    <input
      type="file"
      accept={ACCEPTED}
      className="sr-only"
      onChange={(event) => {
        const [file] = event.target.files ?? [];
        event.target.value = "";
        if (file !== undefined) onFile(file);
      }}
    />
  </label>
);

interface DropAreaProps {
  readonly onFile: (file: File) => void;
  readonly children: ReactNode;
}

/** Takes a file that is dropped anywhere on what it holds. */
export const DropArea = ({ onFile, children }: DropAreaProps): ReactNode => {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) onFile(dropped);
  };
  return (
    <div
      className={cn("rounded-card", over && "outline-2 outline-offset-2 outline-accent")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget))
          setOver(false);
      }}
      onDrop={drop}
    >
      {children}
    </div>
  );
};
