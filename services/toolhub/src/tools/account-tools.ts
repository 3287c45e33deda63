import Type, { type Static } from 'typebox';
import { type Connector, ConnectorError, type HealthProbe, pageOf } from '../connectors/connector.ts';
import { decodeCursor, encodeCursor } from '../connectors/cursor.ts';
import type { ConnectorService } from '../connectors/service.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import type { AccountToolDefinition } from './tool.ts';
