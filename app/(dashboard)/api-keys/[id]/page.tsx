import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { KeyRequests } from "@/components/features/api-keys/key-requests";

export const metadata: Metadata = { title: "Requests of an API key" };

export default recordPage((id) => <KeyRequests key={id} keyId={id} />);
