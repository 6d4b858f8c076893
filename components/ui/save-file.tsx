"use client";

import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { Download, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button";
import { describeError } from "./describe-error";
import { toast } from "./toast";

interface MadeFile {
  readonly text: string;
  readonly name: string;
  /** Default: CSV. */
  readonly mediaType?: string;
}

/**
 * Downloads a text as a file. A link to the API cannot send the access token, so callers fetch the
 * text first.
 */
export const saveFile = ({ text, name, mediaType = "text/csv" }: MadeFile): void => {
  const type = mediaType.startsWith("text/") ? `${mediaType};charset=utf-8` : mediaType;
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

export type Make = () => Promise<MadeFile>;

export const useFile = (make: Make): UseMutationResult<MadeFile, Error, void> =>
  useMutation({
    mutationFn: make,
    onSuccess: saveFile,
    onError: (error) =>
      toast.error(`The file could not be made. ${describeError(error).message}`),
  });

interface FileButtonProps {
  readonly make: Make;
  readonly icon?: LucideIcon;
  readonly size?: "sm" | undefined;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

export const FileButton = ({
  make,
  icon: Icon = Download,
  size,
  disabled,
  children,
}: FileButtonProps): ReactNode => {
  const { mutate, isPending } = useFile(make);
  return (
    <Button size={size} loading={isPending} disabled={disabled} onClick={() => mutate()}>
      {isPending ? null : <Icon aria-hidden />} {children}
    </Button>
  );
};
