import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { TransferPage } from "@/components/features/private/detail/transfer-page";

export const metadata: Metadata = { title: "Private operation" };

export default recordPage((id) => <TransferPage key={id} transferId={id} />);
